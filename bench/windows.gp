# gnuplot -e "tsv='windows.tsv'; svg='windows.svg'" windows.gp, or png='...'. `windows.py --svg` runs
# this and makes the file smaller.
if (exists("png")) { set terminal pngcairo noenhanced size 760,480 font "sans,10"; set output png } \
else { set terminal svg noenhanced background '#ffffff' size 760,480 font "sans,11"; set output svg }
set datafile separator "\t"
set logscale x 2
set xrange [64:8192]
set yrange [0:*]
set xlabel "tokens of a text"
set ylabel "microseconds for a token and layer"
set tics nomirror scale 0.5
set border 3
set key left top
pick(kind) = sprintf("< awk -F '\\t' '$1==\"%s\"' %s", kind, tsv)
plot pick("all tokens") using 2:6 with linespoints pt 7 ps 0.5 lw 2 lc rgb "#7030a0" title "layers that read all tokens", \
     pick("published") using 2:6 with linespoints pt 7 ps 0.5 lw 2 lc rgb "#008060" title "every third does (ModernBERT)", \
     pick("windows") using 2:6 with linespoints pt 7 ps 0.5 lw 2 lc rgb "#b05000" title "windows of 128 tokens"
