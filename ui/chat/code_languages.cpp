// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/code_languages.h"

namespace ui {

namespace {

using L = QLatin1String;
using F = CodeLanguage;

const CodePair kDouble{L("\""), L("\""), false, true};
const CodePair kSingle{L("'"), L("'"), false, true};
const CodePair kPlainSingle{L("'"), L("'"), false, false};
const CodePair kLongDouble{L("\""), L("\""), true, true};
const CodePair kLongSingle{L("'"), L("'"), true, true};
const CodePair kBackticks{L("`"), L("`"), true, true};
const CodePair kTripleDouble{L("\"\"\""), L("\"\"\""), true, true};
const CodePair kTripleSingle{L("'''"), L("'''"), true, true};
const CodePair kSlashStar{L("/*"), L("*/"), true, false};

// clang-format off
std::vector<CodeLanguage> withBraces() {
    return {
        {L("c h c++ cpp cc cxx hpp cu cuda cuh glsl hlsl opencl arduino objc objective-c"),
         L("alignas alignof asm auto break case catch class co_await co_return co_yield concept const const_cast consteval "
           "constexpr constinit continue decltype default delete do dynamic_cast else enum explicit export extern final for "
           "friend goto if import inline module mutable namespace new noexcept operator override private protected public "
           "register reinterpret_cast requires return sizeof static static_assert static_cast struct switch template this "
           "thread_local throw try typedef typeid typename union using virtual volatile while restrict __global__ __device__ "
           "__host__ __shared__ __constant__ __restrict__ __launch_bounds__ __forceinline__ __syncthreads"),
         L("bool char char8_t char16_t char32_t double float int long short signed unsigned void wchar_t size_t ssize_t "
           "ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t FILE string "
           "string_view vector map set pair tuple array optional variant unique_ptr shared_ptr half half2 float2 float3 "
           "float4 int2 int4 dim3 uint __half __nv_bfloat16 true false nullptr NULL threadIdx blockIdx blockDim gridDim warpSize"),
         {L("//")}, {kSlashStar}, {kDouble, kSingle}, F::Directives | F::RawStrings},
        {L("js javascript jsx mjs cjs node ts typescript tsx"),
         L("abstract as async await break case catch class const constructor continue debugger declare default delete do else "
           "enum export extends finally for from function get if implements import in instanceof interface is keyof let "
           "namespace new of override private protected public readonly return satisfies set static super switch this throw "
           "try type typeof var void while with yield"),
         L("any bigint boolean never number object string symbol unknown true false null undefined NaN Infinity Array Map Set "
           "Promise Object String Number Boolean Error JSON Math Date RegExp console document window"),
         {L("//")}, {kSlashStar}, {kDouble, kSingle, kBackticks}, 0},
        {L("java"),
         L("abstract assert break case catch class const continue default do else enum exports extends final finally for goto "
           "if implements import instanceof interface module native new non-sealed package permits private protected public "
           "record requires return sealed static strictfp super switch synchronized this throw throws transient try var "
           "volatile when while yield"),
         L("boolean byte char double float int long short void true false null String Integer Long Double Boolean Object List "
           "Map Set Optional Stream"),
         {L("//")}, {kSlashStar}, {kTripleDouble, kDouble, kSingle}, F::Sigils},
        {L("kotlin kt kts"),
         L("abstract actual annotation as break by catch class companion const constructor continue crossinline data do else "
           "enum expect external final finally for fun get if import in infix init inline inner interface internal is lateinit "
           "noinline object open operator out override package private protected public reified return sealed set super "
           "suspend tailrec this throw try typealias val value var vararg when where while"),
         L("Any Array Boolean Byte Char Double Float Int List Long Map MutableList MutableMap Nothing Set Short String Unit "
           "true false null"),
         {L("//")}, {kSlashStar}, {kTripleDouble, kDouble, kSingle}, F::NestedComments | F::Sigils},
        {L("cs csharp c#"),
         L("abstract as async await base break case catch checked class const continue default delegate do else enum event "
           "explicit extern file finally fixed for foreach get global goto if implicit in init interface internal is lock "
           "namespace new operator out override params partial private protected public readonly record ref required return "
           "sealed select set sizeof stackalloc static struct switch this throw try typeof unchecked unsafe using var virtual "
           "volatile when where while with yield"),
         L("bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong ushort void "
           "true false null Task List Dictionary IEnumerable Exception Console"),
         {L("//")}, {kSlashStar}, {{L("@\""), L("\""), true, false}, kTripleDouble, kDouble, kSingle}, F::Directives},
        {L("go golang"),
         L("break case chan const continue default defer else fallthrough for func go goto if import interface map package "
           "range return select struct switch type var"),
         L("any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint "
           "uint8 uint16 uint32 uint64 uintptr true false nil iota append cap close copy delete len make new panic print "
           "println recover"),
         {L("//")}, {kSlashStar}, {kDouble, kSingle, {L("`"), L("`"), true, false}}, 0},
        {L("rust rs"),
         L("as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub "
           "ref return self Self static struct super trait type union unsafe use where while yield macro_rules"),
         L("bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize String Vec Option Result Box Rc Arc "
           "HashMap Some None Ok Err true false"),
         {L("//")}, {kSlashStar}, {kLongDouble, kSingle}, F::NestedComments | F::RawStrings | F::Lifetimes},
        {L("swift"),
         L("actor any as associatedtype async await break case catch class continue convenience default defer deinit didSet "
           "do else enum extension fallthrough fileprivate final for func get guard if import in indirect init inout internal "
           "is lazy let mutating nonisolated open operator override private protocol public repeat required rethrows return "
           "self Self set some static struct subscript super switch throw throws try typealias unowned var weak where while willSet"),
         L("Any AnyObject Array Bool Character Dictionary Double Float Int Int64 Never Optional Set String UInt Void true false nil"),
         {L("//")}, {kSlashStar}, {kTripleDouble, kDouble}, F::NestedComments | F::Sigils},
        {L("php"),
         L("abstract and as break callable case catch class clone const continue declare default do echo else elseif enum "
           "extends final finally fn for foreach function global goto if implements include include_once instanceof insteadof "
           "interface isset list match namespace new or print private protected public readonly require require_once return "
           "static switch throw trait try unset use var while xor yield"),
         L("array bool float int iterable mixed never null object self string void true false"),
         {L("//"), L("#")}, {kSlashStar}, {kLongDouble, kLongSingle}, F::Sigils | F::HereDocuments | F::AnyCase},
    };
}

std::vector<CodeLanguage> scripts() {
    return {
        {L("py python python3 pycon ipython"),
         L("and as assert async await break case class continue def del elif else except finally for from global if import in "
           "is lambda match nonlocal not or pass raise return try while with yield"),
         L("True False None self cls bool bytes complex dict float frozenset int list object set str tuple type Exception "
           "ValueError TypeError KeyError enumerate isinstance len map max min open print range reversed sorted sum super zip"),
         {L("#")}, {}, {kTripleDouble, kTripleSingle, kDouble, kSingle}, F::Sigils},
        {L("rb ruby"),
         L("alias and begin break case class def defined? do else elsif end ensure extend for if in include module next not or "
           "private protected public raise redo require require_relative rescue retry return self super then undef unless "
           "until when while yield attr_accessor attr_reader attr_writer lambda proc puts"),
         L("true false nil Array Hash Integer Float String Symbol Struct"),
         {L("#")}, {{L("=begin"), L("=end"), true, false}}, {kLongDouble, kLongSingle}, F::Sigils | F::HereDocuments | F::HashAfterSpace},
        {L("lua"),
         L("and break do else elseif end for function goto if in local not or repeat return then until while"),
         L("true false nil self ipairs pairs print require string table math type tostring tonumber"),
         {L("--")}, {{L("--[["), L("]]"), true, false}}, {{L("[["), L("]]"), true, false}, kDouble, kSingle}, 0},
        {L("r rscript"),
         L("break else for function if in next repeat return while library require"),
         L("TRUE FALSE NULL NA NaN Inf c data.frame factor list matrix vector print"),
         {L("#")}, {}, {kLongDouble, kLongSingle, kBackticks}, 0},
        {L("sh bash shell zsh console shellsession ash ksh"),
         L("break case continue do done elif else esac eval exec exit export fi for function if in local readonly return select "
           "set shift source then time trap unset until while"),
         L("awk cat cd chmod cp curl cut docker echo find git grep head kill ls make mkdir mv npm pip printf pwd python python3 "
           "read rm sed sort sudo tail tar test touch tr wget xargs apt true false"),
         {L("#")}, {}, {kLongDouble, {L("'"), L("'"), true, false}}, F::Sigils | F::HereDocuments | F::HashAfterSpace | F::Dashes},
        {L("powershell ps1 pwsh ps"),
         L("begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach function "
           "hidden if in param process return static switch throw trap try until using while -eq -ne -gt -lt -ge -le -like "
           "-match -and -or -not -in -contains"),
         L("write-host write-output get-childitem get-content set-content get-process foreach-object where-object "
           "select-object new-object import-module"),
         {L("#")}, {{L("<#"), L("#>"), true, false}}, {{L("@\""), L("\"@"), true, false}, {L("\""), L("\""), true, false}, {L("'"), L("'"), true, false}},
         F::AnyCase | F::Sigils | F::Dashes},
        {L("sql mysql postgres postgresql plsql tsql sqlite psql"),
         L("add all alter and any as asc begin between by case check column commit constraint create cross database declare "
           "default delete desc distinct drop else end except exec execute exists explain fetch foreign from full function "
           "grant group having if in index inner insert intersect into is join key left like limit merge not offset on or "
           "order outer over partition primary procedure references returning returns revoke right rollback row rows select "
           "set table then to top transaction trigger truncate union unique update using values view when where window with"),
         L("bigint blob boolean bytea char date datetime decimal double float int integer interval json jsonb numeric real "
           "serial smallint text time timestamp uuid varchar true false null avg coalesce count max min now sum"),
         {L("--")}, {kSlashStar}, {kPlainSingle, kDouble}, F::AnyCase},
        {L("cmake"),
         L("if else elseif endif foreach endforeach while endwhile function endfunction macro endmacro return break continue "
           "set unset option include find_package find_library project cmake_minimum_required add_executable add_library "
           "add_subdirectory add_custom_command add_custom_target add_test enable_testing target_link_libraries "
           "target_include_directories target_compile_definitions target_compile_options target_sources install message list "
           "string file set_target_properties"),
         L("ON OFF TRUE FALSE AND OR NOT PUBLIC PRIVATE INTERFACE REQUIRED COMPONENTS STATIC SHARED VERSION LANGUAGES CXX CUDA "
           "STREQUAL MATCHES DEFINED EXISTS TARGET FATAL_ERROR STATUS WARNING"),
         {L("#")}, {{L("#[["), L("]]"), true, false}}, {kLongDouble}, F::AnyCase},
        {L("dockerfile docker containerfile"),
         L("add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir"),
         L(""), {L("#")}, {}, {kDouble, kPlainSingle}, F::AnyCase | F::Sigils | F::HashAfterSpace | F::Dashes},
        {L("make makefile mk gnumake"),
         L("include define endef ifdef ifndef ifeq ifneq else endif export unexport override vpath .PHONY"),
         L("wildcard patsubst subst shell foreach call filter"),
         {L("#")}, {}, {kDouble, kPlainSingle}, F::Sigils | F::Rules | F::HashAfterSpace | F::Dashes},
    };
}

std::vector<CodeLanguage> data() {
    return {
        {L("json jsonc json5 jsonl"), L("true false null"), L(""), {L("//")}, {kSlashStar}, {kDouble}, F::Keys},
        {L("yaml yml"), L("true false null yes no on off"), L(""), {L("#")}, {}, {kDouble, kPlainSingle},
         F::Keys | F::HashAfterSpace | F::Dashes},
        {L("toml ini cfg conf properties editorconfig"), L("true false"), L(""), {L("#"), L(";")}, {},
         {kTripleDouble, {L("'''"), L("'''"), true, false}, kDouble, kPlainSingle}, F::Keys | F::Dashes},
        {L("html htm xml svg xhtml vue svelte xsl xsd plist qml-xml"), L(""), L(""), {}, {{L("<!--"), L("-->"), true, false}},
         {}, F::Markup},
        {L("css scss sass less"),
         L("@media @import @keyframes @font-face @supports @layer @container @page @use @include @mixin !important and not only from to"),
         L("inherit initial unset none auto block inline flex grid absolute relative fixed sticky hidden visible solid dashed "
           "bold normal center left right top bottom"),
         {}, {kSlashStar}, {kDouble, kSingle}, F::Keys | F::Dashes},
        {L("diff patch udiff"), L(""), L(""), {}, {}, {}, F::Diff},
    };
}
// clang-format on

} // namespace

const std::vector<CodeLanguage>& codeLanguages() {
    static const std::vector<CodeLanguage> all = [] {
        std::vector<CodeLanguage> rows = withBraces();
        for (auto part : {scripts(), data()}) {
            rows.insert(rows.end(), part.begin(), part.end());
        }
        return rows;
    }();
    return all;
}

} // namespace ui
