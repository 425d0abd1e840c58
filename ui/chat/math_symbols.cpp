// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/math_symbols.h"

#include <QHash>

namespace ui {

namespace {

struct Row {
    const char* name;
    char32_t symbol;
};

// clang-format off
constexpr Row kGreek[] = {
    {"alpha", 0x3b1}, {"beta", 0x3b2}, {"gamma", 0x3b3}, {"delta", 0x3b4}, {"epsilon", 0x3f5}, {"varepsilon", 0x3b5},
    {"zeta", 0x3b6}, {"eta", 0x3b7}, {"theta", 0x3b8}, {"vartheta", 0x3d1}, {"iota", 0x3b9}, {"kappa", 0x3ba},
    {"lambda", 0x3bb}, {"mu", 0x3bc}, {"nu", 0x3bd}, {"xi", 0x3be}, {"omicron", 0x3bf}, {"pi", 0x3c0}, {"varpi", 0x3d6},
    {"rho", 0x3c1}, {"varrho", 0x3f1}, {"sigma", 0x3c3}, {"varsigma", 0x3c2}, {"tau", 0x3c4}, {"upsilon", 0x3c5},
    {"phi", 0x3d5}, {"varphi", 0x3c6}, {"chi", 0x3c7}, {"psi", 0x3c8}, {"omega", 0x3c9}, {"ell", 0x2113},
    {"imath", 0x131}, {"jmath", 0x237}, {"wp", 0x2118}};
constexpr Row kOrdinary[] = {
    {"Gamma", 0x393}, {"Delta", 0x394}, {"Theta", 0x398}, {"Lambda", 0x39b}, {"Xi", 0x39e}, {"Pi", 0x3a0},
    {"Sigma", 0x3a3}, {"Upsilon", 0x3a5}, {"Phi", 0x3a6}, {"Psi", 0x3a8}, {"Omega", 0x3a9}, {"infty", 0x221e},
    {"partial", 0x2202}, {"nabla", 0x2207}, {"hbar", 0x210f}, {"hslash", 0x210f}, {"Re", 0x211c}, {"Im", 0x2111}, {"aleph", 0x2135},
    {"forall", 0x2200}, {"exists", 0x2203}, {"nexists", 0x2204}, {"emptyset", 0x2205}, {"varnothing", 0x2205},
    {"neg", 0xac}, {"lnot", 0xac}, {"top", 0x22a4}, {"bot", 0x22a5}, {"angle", 0x2220}, {"triangle", 0x25b3},
    {"square", 0x25a1}, {"blacksquare", 0x25a0}, {"diamond", 0x22c4}, {"star", 0x22c6}, {"prime", 0x2032}, {"degree", 0xb0},
    {"ldots", 0x2026}, {"dots", 0x2026}, {"cdots", 0x22ef}, {"vdots", 0x22ee}, {"ddots", 0x22f1}, {"therefore", 0x2234},
    {"because", 0x2235}, {"checkmark", 0x2713}, {"dagger", 0x2020}, {"%", '%'}, {"$", '$'}, {"#", '#'}, {"&", '&'},
    {"_", '_'}, {"|", 0x2016}, {"backslash", '\\'}, {"surd", 0x221a}, {"clubsuit", 0x2663}, {"heartsuit", 0x2661}};
constexpr Row kBinary[] = {
    {"pm", 0xb1}, {"mp", 0x2213}, {"times", 0xd7}, {"div", 0xf7}, {"cdot", 0x22c5}, {"ast", 0x2217}, {"circ", 0x2218},
    {"bullet", 0x2022}, {"cap", 0x2229}, {"cup", 0x222a}, {"setminus", 0x2216}, {"wedge", 0x2227}, {"land", 0x2227},
    {"vee", 0x2228}, {"lor", 0x2228}, {"oplus", 0x2295}, {"ominus", 0x2296}, {"otimes", 0x2297}, {"odot", 0x2299},
    {"sqcup", 0x2294}, {"sqcap", 0x2293}, {"uplus", 0x228e}, {"bmod", 0}, {"rtimes", 0x22ca}, {"ltimes", 0x22c9}};
constexpr Row kRelations[] = {
    {"leq", 0x2264}, {"le", 0x2264}, {"geq", 0x2265}, {"ge", 0x2265}, {"leqslant", 0x2a7d}, {"geqslant", 0x2a7e},
    {"neq", 0x2260}, {"ne", 0x2260}, {"approx", 0x2248}, {"equiv", 0x2261}, {"sim", 0x223c}, {"simeq", 0x2243},
    {"cong", 0x2245}, {"propto", 0x221d}, {"ll", 0x226a}, {"gg", 0x226b}, {"in", 0x2208}, {"notin", 0x2209}, {"ni", 0x220b},
    {"subset", 0x2282}, {"subseteq", 0x2286}, {"supset", 0x2283}, {"supseteq", 0x2287}, {"subsetneq", 0x228a},
    {"to", 0x2192}, {"rightarrow", 0x2192}, {"leftarrow", 0x2190}, {"gets", 0x2190}, {"leftrightarrow", 0x2194},
    {"Rightarrow", 0x21d2}, {"implies", 0x27f9}, {"Leftarrow", 0x21d0}, {"Leftrightarrow", 0x21d4}, {"iff", 0x27fa},
    {"longrightarrow", 0x27f6}, {"longleftarrow", 0x27f5}, {"Longrightarrow", 0x27f9}, {"mapsto", 0x21a6},
    {"hookrightarrow", 0x21aa}, {"uparrow", 0x2191}, {"downarrow", 0x2193}, {"nearrow", 0x2197}, {"searrow", 0x2198},
    {"rightharpoonup", 0x21c0}, {"rightleftharpoons", 0x21cc}, {"perp", 0x22a5}, {"parallel", 0x2225}, {"mid", 0x2223},
    {"vdash", 0x22a2}, {"models", 0x22a8}, {"vDash", 0x22a8}, {"prec", 0x227a}, {"succ", 0x227b}, {"preceq", 0x2aaf},
    {"succeq", 0x2ab0}, {"asymp", 0x224d}, {"doteq", 0x2250}, {"triangleq", 0x225c}, {"coloneqq", 0x2254},
    {"lesssim", 0x2272}, {"gtrsim", 0x2273}, {"bowtie", 0x22c8}, {"nmid", 0x2224}, {"colon", ':'}};
constexpr Row kLarge[] = {
    {"sum", 0x2211}, {"prod", 0x220f}, {"coprod", 0x2210}, {"bigcup", 0x22c3}, {"bigcap", 0x22c2}, {"bigoplus", 0x2a01},
    {"bigotimes", 0x2a02}, {"bigvee", 0x22c1}, {"bigwedge", 0x22c0}, {"bigsqcup", 0x2a06}};
constexpr Row kIntegrals[] = {{"int", 0x222b}, {"iint", 0x222c}, {"iiint", 0x222d}, {"oint", 0x222e}};
constexpr Row kOpen[] = {{"{", '{'}, {"lbrace", '{'}, {"langle", 0x27e8}, {"lfloor", 0x230a}, {"lceil", 0x2308}, {"lVert", 0x2016}, {"lvert", '|'}, {"lbrack", '['}};
constexpr Row kClose[] = {{"}", '}'}, {"rbrace", '}'}, {"rangle", 0x27e9}, {"rfloor", 0x230b}, {"rceil", 0x2309}, {"rVert", 0x2016}, {"rvert", '|'}, {"rbrack", ']'}};
constexpr Row kFences[] = {{"Vert", 0x2016}, {"vert", '|'}};
constexpr const char* kFunctions[] = {
    "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "arcsin", "arccos", "arctan", "log", "ln",
    "lg", "exp", "arg", "deg", "dim", "hom", "ker"};
constexpr const char* kLimits[] = {"lim", "max", "min", "sup", "inf", "det", "gcd", "Pr", "limsup", "liminf", "argmax", "argmin"};
// clang-format on

QHash<QString, MathSymbol> makeAll() {
    QHash<QString, MathSymbol> all;
    const auto add = [&](const auto& rows, MathClass part, MathFont font, bool is_large,
                         bool has_limits) {
        for (const Row& row : rows) {
            if (row.symbol != 0) {
                all.insert(QString::fromLatin1(row.name),
                           {QString::fromUcs4(&row.symbol, 1), part, font, is_large, has_limits});
            }
        }
    };
    add(kGreek, MathClass::Ordinary, MathFont::Italic, false, false);
    add(kOrdinary, MathClass::Ordinary, MathFont::Roman, false, false);
    add(kBinary, MathClass::Binary, MathFont::Roman, false, false);
    add(kRelations, MathClass::Relation, MathFont::Roman, false, false);
    add(kLarge, MathClass::Operator, MathFont::Roman, true, true);
    add(kIntegrals, MathClass::Operator, MathFont::Roman, true, false);
    add(kOpen, MathClass::Open, MathFont::Roman, false, false);
    add(kClose, MathClass::Close, MathFont::Roman, false, false);
    add(kFences, MathClass::Ordinary, MathFont::Roman, false, false);
    for (const char* name : kFunctions) {
        const QString text = QString::fromLatin1(name);
        all.insert(text, {text, MathClass::Operator, MathFont::Roman, false, false});
    }
    for (const char* name : kLimits) {
        const QString text = QString::fromLatin1(name);
        QString shown = text;
        if (text.size() > 5) { // two words
            shown.insert(3, QChar(0x2009));
        }
        all.insert(text, {shown, MathClass::Operator, MathFont::Roman, false, true});
    }
    all.insert(QStringLiteral("bmod"),
               {QStringLiteral("mod"), MathClass::Binary, MathFont::Roman, false, false});
    return all;
}

} // namespace

const MathSymbol* mathSymbol(const QString& name) {
    static const QHash<QString, MathSymbol> all = makeAll();
    const auto found = all.constFind(name);
    return found == all.constEnd() ? nullptr : &*found;
}

} // namespace ui
