# gnuplot -e "tsv='scaling.tsv'; svg='scaling.svg'" scaling.gp
# Tokens/s against length, batch, width and layers, at 1 and 2 threads (or what the TSV has).
if (exists("png")) { set terminal pngcairo size 1100,800 font "sans,10"; set output png } \
else { set terminal svg size 1100,800 font "sans,11"; set output svg }
set datafile separator "\t"
set logscale xy 2
set grid lw 0.5
set format y "%.0f"
set key top right samplen 2
pick(name, threads, precision, what) = sprintf("< awk -F '\\t' '$1==\"%s\" && $3==%d && $4==\"%s\" && $5==\"%s\"' %s", name, threads, precision, what, tsv)
names = "length batch width layers"
titles = "'tokens in each text' 'pairs in a step' 'width of the model' 'layers'"
set multiplot layout 2,2 title "Speed: training (filled) and encoding (open)"
do for [i = 1:4] {
  name = word(names, i)
  set xlabel word(titles, i)
  set ylabel "tokens/s"
  if (i > 1) { unset key }
  plot pick(name, 2, "bf16", "encoding") using 2:7 with linespoints lc 1 pt 6 title "bf16, 2 threads, encoding", \
       pick(name, 2, "bf16", "training") using 2:7 with linespoints lc 1 pt 7 title "bf16, 2 threads, training", \
       pick(name, 1, "bf16", "training") using 2:7 with linespoints lc 1 pt 7 dt 2 title "bf16, 1 thread, training", \
       pick(name, 2, "fp32", "encoding") using 2:7 with linespoints lc 2 pt 6 title "fp32, 2 threads, encoding", \
       pick(name, 2, "fp32", "training") using 2:7 with linespoints lc 2 pt 7 title "fp32, 2 threads, training", \
       pick(name, 1, "fp32", "training") using 2:7 with linespoints lc 2 pt 7 dt 2 title "fp32, 1 thread, training"
}
unset multiplot
