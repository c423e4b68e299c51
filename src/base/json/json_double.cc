#include "base/json/json_double.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace tandem {
namespace {

// `significand` * 2^`exponent`.
struct Scaled {
  uint64_t significand = 0;
  int exponent = 0;
};

Scaled Normalized(Scaled x) {
  const int shift = std::countl_zero(x.significand);
  return {x.significand << shift, x.exponent - shift};
}

// The product, rounded to 64 bits.
Scaled Times(Scaled x, Scaled y) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{x.significand} * y.significand + (uint64_t{1} << 63);
  return {static_cast<uint64_t>(product >> 64), x.exponent + y.exponent + 64};
}

// A positive double and the middles between it and its neighbours, all of one exponent.
struct Rounding {
  Scaled low, value, high;
};

Rounding RoundingOf(double value) {
  constexpr int kBits = 52;  // stored ones of the significand
  constexpr int kLeastExponent = -1074;
  constexpr uint64_t kHidden = uint64_t{1} << kBits;
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t fraction = bits & (kHidden - 1);
  const auto biased = static_cast<int>(bits >> kBits);
  const Scaled v = biased == 0 ? Scaled{fraction, kLeastExponent}
                               : Scaled{fraction + kHidden, biased + kLeastExponent - 1};
  const Scaled high = Normalized({2 * v.significand + 1, v.exponent - 1});
  // Below a power of two the neighbours are twice as close.
  const bool is_closer = fraction == 0 && biased > 1;
  const Scaled low = is_closer ? Scaled{4 * v.significand - 1, v.exponent - 2}
                               : Scaled{2 * v.significand - 1, v.exponent - 1};
  return {{low.significand << (low.exponent - high.exponent), high.exponent}, Normalized(v), high};
}

// 10^-300, 10^-292, ..., 10^324, rounded to 64 bits.
constexpr int kLeastPower = -300;
constexpr int kPowerStep = 8;
constexpr uint64_t kPowers[] = {
    0xAB70FE17C79AC6CA, 0xFF77B1FCBEBCDC4F, 0xBE5691EF416BD60C, 0x8DD01FAD907FFC3C,
    0xD3515C2831559A83, 0x9D71AC8FADA6C9B5, 0xEA9C227723EE8BCB, 0xAECC49914078536D,
    0x823C12795DB6CE57, 0xC21094364DFB5637, 0x9096EA6F3848984F, 0xD77485CB25823AC7,
    0xA086CFCD97BF97F4, 0xEF340A98172AACE5, 0xB23867FB2A35B28E, 0x84C8D4DFD2C63F3B,
    0xC5DD44271AD3CDBA, 0x936B9FCEBB25C996, 0xDBAC6C247D62A584, 0xA3AB66580D5FDAF6,
    0xF3E2F893DEC3F126, 0xB5B5ADA8AAFF80B8, 0x87625F056C7C4A8B, 0xC9BCFF6034C13053,
    0x964E858C91BA2655, 0xDFF9772470297EBD, 0xA6DFBD9FB8E5B88F, 0xF8A95FCF88747D94,
    0xB94470938FA89BCF, 0x8A08F0F8BF0F156B, 0xCDB02555653131B6, 0x993FE2C6D07B7FAC,
    0xE45C10C42A2B3B06, 0xAA242499697392D3, 0xFD87B5F28300CA0E, 0xBCE5086492111AEB,
    0x8CBCCC096F5088CC, 0xD1B71758E219652C, 0x9C40000000000000, 0xE8D4A51000000000,
    0xAD78EBC5AC620000, 0x813F3978F8940984, 0xC097CE7BC90715B3, 0x8F7E32CE7BEA5C70,
    0xD5D238A4ABE98068, 0x9F4F2726179A2245, 0xED63A231D4C4FB27, 0xB0DE65388CC8ADA8,
    0x83C7088E1AAB65DB, 0xC45D1DF942711D9A, 0x924D692CA61BE758, 0xDA01EE641A708DEA,
    0xA26DA3999AEF774A, 0xF209787BB47D6B85, 0xB454E4A179DD1877, 0x865B86925B9BC5C2,
    0xC83553C5C8965D3D, 0x952AB45CFA97A0B3, 0xDE469FBD99A05FE3, 0xA59BC234DB398C25,
    0xF6C69A72A3989F5C, 0xB7DCBF5354E9BECE, 0x88FCF317F22241E2, 0xCC20CE9BD35C78A5,
    0x98165AF37B2153DF, 0xE2A0B5DC971F303A, 0xA8D9D1535CE3B396, 0xFB9B7CD9A4A7443C,
    0xBB764C4CA7A44410, 0x8BAB8EEFB6409C1A, 0xD01FEF10A657842C, 0x9B10A4E5E9913129,
    0xE7109BFBA19C0C9D, 0xAC2820D9623BF429, 0x80444B5E7AA7CF85, 0xBF21E44003ACDD2D,
    0x8E679C2F5E44FF8F, 0xD433179D9C8CB841, 0x9E19DB92B4E31BA9,
};

// A power of ten whose product with a number of this exponent has an exponent from kAlpha to -32.
constexpr int kAlpha = -60;
int PowerFor(int exponent) {
  const int least = kAlpha - exponent - 1;
  // 78913 / 2^18 is the logarithm of 2, rounded up.
  const int power = least * 78913 / (1 << 18) + (least > 0 ? 1 : 0);
  return (power - kLeastPower + kPowerStep - 1) / kPowerStep * kPowerStep + kLeastPower;
}

Scaled PowerOfTen(int power) {
  // 217706 / 2^16 is the logarithm of 10 to the base 2.
  return {kPowers[(power - kLeastPower) / kPowerStep], ((power * 217706) >> 16) - 63};
}

// Digits as they come: an integer below 2^64 is what is left of the highest value that rounds to
// the double.
struct Digits {
  char text[20];
  int count = 0;
  int exponent = 0;  // the number is text * 10^exponent

  void Add(uint64_t digit) { text[count++] = static_cast<char>('0' + digit); }
};

// Lowers the last digit while the number comes nearer to the double by it. All are distances from
// the highest value: `wanted` that of the double, `most` that of the lowest value, `left` that of
// the digits so far, of whose last one `unit` is the weight.
void ComeNearer(uint64_t wanted, uint64_t most, uint64_t left, uint64_t unit, Digits* digits) {
  while (left < wanted && most - left >= unit &&
         (left + unit < wanted || wanted - left > left + unit - wanted)) {
    --digits->text[digits->count - 1];
    left += unit;
  }
}

Digits DigitsBetween(Scaled low, Scaled value, Scaled high) {
  Digits digits;
  uint64_t most = high.significand - low.significand;
  uint64_t wanted = high.significand - value.significand;
  const int shift = -high.exponent;  // 32 to 60
  auto whole = static_cast<uint32_t>(high.significand >> shift);
  uint64_t part = high.significand & ((uint64_t{1} << shift) - 1);
  uint32_t power = 1;
  int behind = 0;  // digits of `whole` that are still to come
  for (uint32_t rest = whole / 10; rest > 0; rest /= 10) {
    power *= 10;
    ++behind;
  }
  for (; power > 0; power /= 10, --behind) {
    digits.Add(whole / power);
    whole %= power;
    const uint64_t left = (uint64_t{whole} << shift) + part;
    if (left > most) continue;
    digits.exponent = behind;
    ComeNearer(wanted, most, left, uint64_t{power} << shift, &digits);
    return digits;
  }
  do {
    part *= 10;
    digits.Add(part >> shift);
    part &= (uint64_t{1} << shift) - 1;
    --digits.exponent;
    most *= 10;
    wanted *= 10;
  } while (part > most);
  ComeNearer(wanted, most, part, uint64_t{1} << shift, &digits);
  return digits;
}

// `value` must be positive.
Digits DigitsOf(double value) {
  const Rounding rounding = RoundingOf(value);
  const int power = PowerFor(rounding.high.exponent);
  const Scaled scale = PowerOfTen(power);
  Scaled low = Times(rounding.low, scale), high = Times(rounding.high, scale);
  // The products are rounded; one unit inwards is certainly inside.
  ++low.significand;
  --high.significand;
  Digits digits = DigitsBetween(low, Times(rounding.value, scale), high);
  digits.exponent -= power;
  return digits;
}

}  // namespace

void AppendJsonDouble(double value, std::string* out) {
  constexpr int kLongest = 15;   // digits before the point; longer numbers have an exponent
  constexpr int kMostZeros = 3;  // zeros after the point before the first other digit
  if (std::signbit(value)) *out += '-';
  if (value == 0) {
    *out += "0.0";
    return;
  }
  const Digits found = DigitsOf(std::abs(value));
  const std::string_view digits(found.text, static_cast<size_t>(found.count));
  const int point = found.count + found.exponent;  // where it stands among the digits
  if (found.exponent >= 0 && point <= kLongest) {
    out->append(digits).append(static_cast<size_t>(found.exponent), '0').append(".0");
  } else if (point > 0 && point <= kLongest) {
    out->append(digits.substr(0, static_cast<size_t>(point))).append(".");
    out->append(digits.substr(static_cast<size_t>(point)));
  } else if (point <= 0 && point >= -kMostZeros) {
    out->append("0.").append(static_cast<size_t>(-point), '0').append(digits);
  } else {
    out->append(digits.substr(0, 1));
    if (digits.size() > 1) out->append(".").append(digits.substr(1));
    fmt::format_to(std::back_inserter(*out), "e{:+03}", point - 1);
  }
}

}  // namespace tandem
