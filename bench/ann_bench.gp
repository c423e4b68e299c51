# gnuplot -e "tsv='ann.tsv'; svg='ann.svg'; names='tandem hnsw|hnswlib'" ann_bench.gp, as
# `ann_bench.py --svg` runs it.
set terminal svg noenhanced background '#ffffff' size 1000,560 font "sans,11"
set output svg
set datafile separator "\t"
set logscale y
set xrange [0.6:1]
set xlabel "recall of the best 10"
set ylabel "ms a query on one thread"
set tics nomirror scale 0.5
set border 3
set key outside right top samplen 2
count = int(system(sprintf("printf %%s '%s' | tr -cd '|' | wc -c", names))) + 1
name(i) = system(sprintf("printf %%s '%s' | cut -d'|' -f%d", names, i))
of(i) = sprintf("< awk -F '\\t' '$1==\"%s\"' %s", name(i), tsv)
plot for [i = 1:count] of(i) using 3:4 with linespoints lw 2 pt 7 ps 0.4 title name(i)
