// t-SNE: rows in a plane such that near neighbours stay near. Distances between groups and the
// sizes of groups mean nothing in it.
#pragma once

#include <span>
#include <vector>

#include "eval/views/principal_components.h"
#include "eval/views/unit_rows.h"

namespace tandem::eval {

struct TsneOptions {
  double perplexity = 30;    // neighbours that count, about; at most (n - 1) / 3 is used
  double exaggeration = 12;  // factor of the affinities in the first iterations
  int exaggerated = 250;     // iterations
  int iterations = 750;      // all of them
  int threads = 1;
};

// The computation is exact: every pair in every iteration, O(n^2 (E + iterations)); some two
// seconds of a core for 1,000 rows. `start` [n] is scaled until its first coordinate has a standard
// deviation of 1e-4:
// start from ProjectOnPlane's points (Kobak & Berens 2019, "The art of using t-SNE for single-cell
// transcriptomics"), so that nothing is drawn at random and the rough arrangement is that of the
// rows. The points are the same for any number of threads. Rows that are equal and start at one
// point stay at one point; without spread in `start` all points are zero. Fewer than four rows get
// zeros, as no perplexity suits them.
// Source: van der Maaten & Hinton 2008, "Visualizing data using t-SNE", algorithm 1; step size n /
// (4 exaggeration), at least 50 (Belkina et al. 2019), gains and momentum as in the authors'
// program.
std::vector<PlanePoint> Tsne(const UnitRows& rows, std::span<const PlanePoint> start,
                             const TsneOptions& options);

// p_ij [n, n], symmetric, zero on the diagonal, all together 1 (eq. 1 and §3.1): the mean of p_j|i
// and p_i|j, divided by n, where p_j|i falls with the squared distance of row j at the rate that
// gives row i the wanted perplexity (bisection; rows that are all equally far have equal ones).
std::vector<double> TsneAffinities(const UnitRows& rows, double perplexity, int threads);

// Kullback-Leibler divergence of the plane's affinities from `affinities` (eq. 2), and its gradient
// [n] (eq. 5).
double TsneDivergence(std::span<const double> affinities, std::span<const PlanePoint> points);
std::vector<PlanePoint> TsneGradient(std::span<const double> affinities,
                                     std::span<const PlanePoint> points, double exaggeration,
                                     int threads);

}  // namespace tandem::eval
