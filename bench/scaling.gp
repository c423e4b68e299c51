# gnuplot -e "tsv='scaling.tsv'; svg='scaling.svg'; kinds='avx2:fp32 avx512_bf16:bf16'" scaling.gp, or
# png='...'; at most three kinds. `scaling.py --svg` runs this and makes the file smaller.
if (exists("png")) { set terminal pngcairo noenhanced size 1000,760 font "sans,10"; set output png } \
else { set terminal svg noenhanced background '#ffffff' size 1000,760 font "sans,11"; set output svg }
set datafile separator "\t"
set logscale xy 2
set format y "%.0f"
set tics nomirror scale 0.5
set border 3
set key at screen 0.5,0.01 center bottom vertical maxrows 3 samplen 3
pick(name, kind, threads, what) = sprintf("< awk -F '\\t' '$1==\"%s\" && $3\":\"$4==\"%s\" && $5==%s && $6==\"%s\"' %s", name, kind, threads, what, tsv)
names = "length batch width layers"
titles = "'tokens in each text' 'pairs in a step' 'width of the model' 'layers'"
colors = "#7030a0 #008060 #b05000"
label(kind) = system(sprintf("printf %%s '%s' | sed 's/\\(.*\\):\\(.*\\)/\\2 at \\1/'", kind))
# The three lines of a kind.
what = "encoding training training"
threads = "2 2 1"
widths = "0.7 2 2"
dashes = "1 1 2"
set multiplot layout 2,2 margins 0.08,0.98,0.17,0.97 spacing 0.09,0.12
do for [i = 1:4] {
  name = word(names, i)
  set xlabel word(titles, i)
  set ylabel "tokens/s"
  if (i > 1) { unset key }
  plot for [k = 1:3 * words(kinds)] pick(name, word(kinds, (k + 2) / 3), word(threads, (k - 1) % 3 + 1), \
         word(what, (k - 1) % 3 + 1)) using 2:8 with lines lc rgb word(colors, (k + 2) / 3) \
         lw word(widths, (k - 1) % 3 + 1) dt int(word(dashes, (k - 1) % 3 + 1)) \
         title sprintf("%s, %s, threads: %s", label(word(kinds, (k + 2) / 3)), \
                       word(what, (k - 1) % 3 + 1), word(threads, (k - 1) % 3 + 1))
}
unset multiplot
