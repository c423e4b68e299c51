// The decimal digits of doubles in JSON that the program writes.
#pragma once

#include <string>

namespace tandem {

// Appends a finite number so that it reads back as the same double: "0.1", "300.0", "1e-07",
// "1.5e+20". Grisu2 finds the digits (Florian Loitsch, Printing Floating-Point Numbers Quickly and
// Accurately with Integers, PLDI 2010): they are the fewest ones for all but one number in a
// thousand, which gets one digit more. std::to_chars has the fewest always, but then some numbers
// of files that earlier versions wrote would be written otherwise.
void AppendJsonDouble(double value, std::string* out);

}  // namespace tandem
