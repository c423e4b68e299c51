# gnuplot -e "tsv='sampling_study.tsv'; svg='sampling_study.svg'" sampling_study.gp, or png='...'.
# `sampling_study.py --svg` runs this and makes the file smaller.
if (exists("png")) { set terminal pngcairo noenhanced size 1000,820 font "sans,10"; set output png } \
else { set terminal svg noenhanced background '#ffffff' size 1000,820 font "sans,11"; set output svg }
set datafile separator "\t"
set datafile missing "-"
set tics nomirror scale 0.5
set border 3
set format y "%.3f"
set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05
set key at screen 0.5,0.01 center bottom vertical maxrows 2 samplen 3
rows = "'uniform' 'random .25' 'static .25' 'dynamic' 'static .5, then dynamic' 'infobatch'"
colors = "#202020 #909090 #b05000 #7030a0 #c03070 #008060"
pick(name) = sprintf("< awk -F '\\t' '$1==\"main\" && $2==\"%s\"' %s", name, tsv)
stats pick("before training") using 5 nooutput name "ndcg"
stats pick("before training") using 7 nooutput name "recall"
base(measure) = measure == 5 ? ndcg_mean : recall_mean
set multiplot layout 2,2 margins 0.08,0.98,0.19,0.98 spacing 0.09,0.11
do for [measure in "5 7"] {
  m = int(measure)
  set ylabel m == 5 ? "nDCG@10" : "Recall@20"
  do for [position in "3 9"] {
    p = int(position)
    set xlabel p == 3 ? "steps" : "processor seconds"
    if (m + p > 8) { unset key }
    plot for [i = 1:words(rows)] pick(word(rows, i)) using (column(p)):(column(m)) with lines \
           lw 2 lc rgb word(colors, i) title word(rows, i), \
         for [i = 1:words(rows)] pick(word(rows, i)) \
           using (column(p)):(column(m) - column(m + 1)):(0):(2 * column(m + 1)) \
           with vectors nohead lw 1 lc rgb word(colors, i) notitle, \
         base(m) with lines dt 2 lw 1 lc rgb "#404040" title "before training"
  }
}
unset multiplot
