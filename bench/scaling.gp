# gnuplot -e "tsv='scaling.tsv'; svg='scaling.svg'" scaling.gp, or png='...'; scaling.py --svg does it
# and makes the file smaller.
if (exists("png")) { set terminal pngcairo size 1000,760 font "sans,10"; set output png } \
else { set terminal svg noenhanced size 1000,760 font "sans,11"; set output svg }
set datafile separator "\t"
set logscale xy 2
set format y "%.0f"
set tics nomirror scale 0.5
set border 3
set key at screen 0.5,0.01 center bottom horizontal maxcols 3 samplen 3
pick(name, threads, precision, what) = sprintf("< awk -F '\\t' '$1==\"%s\" && $3==%d && $4==\"%s\" && $5==\"%s\"' %s", name, threads, precision, what, tsv)
names = "length batch width layers"
titles = "'tokens in each text' 'pairs in a step' 'width of the model' 'layers'"
set style line 1 lc rgb "#7030a0" lw 2
set style line 2 lc rgb "#008060" lw 2
set style line 3 lc rgb "#7030a0" lw 0.7
set style line 4 lc rgb "#008060" lw 0.7
set multiplot layout 2,2 margins 0.08,0.98,0.17,0.97 spacing 0.09,0.12
do for [i = 1:4] {
  name = word(names, i)
  set xlabel word(titles, i)
  set ylabel "tokens/s"
  if (i > 1) { unset key }
  plot pick(name, 2, "bf16", "encoding") using 2:7 with lines ls 3 title "bf16, 2 threads, encoding", \
       pick(name, 2, "bf16", "training") using 2:7 with lines ls 1 title "bf16, 2 threads, training", \
       pick(name, 1, "bf16", "training") using 2:7 with lines ls 1 dt 2 title "bf16, 1 thread, training", \
       pick(name, 2, "fp32", "encoding") using 2:7 with lines ls 4 title "fp32, 2 threads, encoding", \
       pick(name, 2, "fp32", "training") using 2:7 with lines ls 2 title "fp32, 2 threads, training", \
       pick(name, 1, "fp32", "training") using 2:7 with lines ls 2 dt 2 title "fp32, 1 thread, training"
}
unset multiplot
