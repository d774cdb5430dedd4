// What every kind makes, frozen: the same command writes the same matrix everywhere, and with every version. Nothing
// here is changed; a new kind or option adds lines, with the digest that a failure shows, once
// generated_matrices_test.py has judged what it makes.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "spmvpack/generators/kinds.hpp"
#include "spmvpack/generators/matrix_build.hpp"

namespace spmvpack::generators {
namespace {

struct Frozen {
  std::string_view digest, words;
};
constexpr std::array frozen{
    Frozen{"db0eb405df45b18da449c10bb803ae95", "laplace2d --grid 13x9"},
    Frozen{"3a93c58ee2bb425f2f6ab5138f2799f1", "laplace2d --grid 13x9 --remove-one"},
    Frozen{"e9d20f76fe02c3eddd76fa61b8640a62", "laplace2d --grid 13x9 --coefficients random --seed 5"},
    Frozen{"761ccc5c4b4fcf05caf47b8167e2c569", "laplace2d --grid 13x9 --coefficients blocks:3"},
    Frozen{"7b1a49bf752af97c04757211bc9bf108", "convection-diffusion --grid 16x12x10"},
    Frozen{"e0e9da83c35af56ab6a02b27c69f181c", "convection-diffusion --grid 16x12x10 --variable"},
    Frozen{"a077ce56b7978d462eb4bbca78679f0f", "convection-diffusion --grid 60x50x1 --coefficients random --seed 1"},
    Frozen{"57cadce7b69f52f1943397d9b6040bc0", "convection-diffusion --grid 16x12x10 --coefficients blocks:8"},
    Frozen{"d7a52e353e0f977daf34c61d580f458e", "hpcg --grid 7x2x5"},
    Frozen{"b1887b4b596fc406ce44d6f383e85c18", "hpcg --grid 6x5x7 --coefficients random"},
    Frozen{"63f6befa01160320caabacd90348f544", "hpcg --grid 6x5x7 --coefficients blocks:2 --seed 9"},
    Frozen{"473a0cfb1a95e296c83c14a166bd0bb7", "kkt --grid 4x3x5"},
    Frozen{"45d8c88ab650bcf1d4ecba8635f7335a", "kkt --grid 4x3x5 --coefficients random --seed 9"},
    Frozen{"b80be3d54018b73d5a6ffc96ffbbc86e", "kkt --grid 4x3x5 --coefficients blocks:2"},
    Frozen{"ddda906baf790d2a8e647b492d8e34ef", "elasticity --grid 4x3x3"},
    Frozen{"8e10bcef4efe2f1fb82b6818f5bf013d", "elasticity --grid 4x3x3 --materials random --seed 4"},
    Frozen{"1834a42a8a4ec2795bca12a8e6d389ae", "elasticity --grid 4x3x3 --materials blocks:2"},
    Frozen{"fb19781b658d079a92d11ffd123e4372", "elasticity --grid 4x3x3 --mesh jittered"},
    Frozen{"0f35b2d58bc5cf48f6ca1794555048bb", "elasticity --grid 4x3x3 --materials random --mesh jittered --seed 4"},
    Frozen{"3a8b17cd7105ede940dcd17c9e7dc16a", "elasticity --grid 4x3x3 --materials blocks:2 --mesh jittered"},
    Frozen{"9e8cfd29805fefc6b12d49b9696eacf1", "triangles --grid 7x6"},
    Frozen{"fc11e9bd7f052abc52795bbc39154fde", "triangles --grid 7x6 --mesh uniform"},
    Frozen{"de34652453a3e62162d54a3bd80652f7", "triangles --grid 7x6 --seed 3"},
    Frozen{"bdb3771693deff52a8ed4449183a0232", "triangles --grid 7x6 --coefficients random"},
    Frozen{"b099f4201cae4dec0b71d5bf79aac272", "triangles --grid 7x6 --coefficients blocks:2 --mesh uniform"},
    Frozen{"dbcfc59137eb581c28a258892c51e52f", "triangles --grid 40x30 --numbering random"},
    Frozen{"0dbecb9f5be4aadcca0d7c1f8c634fdb", "triangles --grid 40x30 --numbering shuffled:64"},
    Frozen{"b787cba90330fb7402130d55459b7deb", "triangles --grid 40x30 --numbering rcm"},
    Frozen{"c96468e25ec30e359b96bb6a803789a2", "cubic --grid 4x3"},
    Frozen{"ebefc6a53c38fad433dc665c2b717bb8", "circuit --rows 3000"},
    Frozen{"f2512b0ef08dbbe2db53edb200a347dd", "circuit --rows 3000 --coefficients constant"},
    Frozen{"d800326d2e5a469d0f85ce65f4e4128a", "circuit --rows 3000 --coefficients blocks:64 --seed 77"},
    Frozen{"74a28fe24c976f517b310987bdaa6eca", "rmat --scale 10 --edge-factor 12"},
    Frozen{"63c08f4ab4a079bde6c74a25389e5500", "rmat --scale 10 --numbering natural --seed 2"},
    Frozen{"6198b51a4a6b6f93c09a235fe199edc8", "lp --rows 40 --cols 3000 --per-row 200"},
    Frozen{"143d61b455f222f41a284373c3b5edda",
           "lp --rows 40 --cols 3000 --per-row 200 --coefficients constant --seed 6"},
    Frozen{"2ae3d2f5a6e0f0a7efed49dd82e2046b", "logdist --rows 3000"},
    Frozen{"1038d558176f0cfced99e44c5b976f78", "logdist --rows 4096 --per-row 40 --seed 8"},
    Frozen{"7c279b3d764557adc6d170540f1b322c", "random --rows 500 --per-row 16"},
    Frozen{"dd0acf9c425cec08fb7ed16f81e55931",
           "random --rows 60 --cols 900 --per-row 5 --coefficients blocks:20 --seed 1"},
    Frozen{"a19fa26ac998fdcb26c92e4cea0775b1", "full --rows 3 --cols 50"},
    Frozen{"8d6186120292e47a9d55d381a2c02273", "full --rows 2 --cols 4 --coefficients constant"},
    Frozen{"8cf61184a679dfd44868bd0846e02ade", "band --rows 12 --below 3 --above 2 --empty-every 3"},
    Frozen{"b8c3c1a57545f9f916eabc92f11d3b63", "blocks --rows 17 --block 5"},
    Frozen{"bb59fc8c7b2848d3b5cd8c803b240150", "arrow --rows 9"},
    Frozen{"63f4b6ec6806bba79d40f682c751a37b", "powerlaw --rows 400 --cols 300 --exponent 1.6 --longest 200"},
    Frozen{"819f6140186db0ee2dd4e47c20ca9d9c", "powerlaw --rows 400 --exponent 2.5 --seed 3"},
    Frozen{"41433c25043fb794069d6a9b26834ccf", "scattered --rows 500 --cols 70 --entries 3000"},
    Frozen{"2fea0ea0ff93950a79853e782f263a51", "block-mesh --grid 6x5x4 --block 5 --radius 1.83"},
    Frozen{"b9dcb1f343636d3e948ba38bcb40fe2a",
           "block-mesh --grid 6x5x4 --block 2 --radius 1.5 --coefficients constant --mesh uniform"},
    Frozen{"ee1da1cbcfc5bb16b03c5ad8b42dca9e",
           "block-mesh --grid 6x5x4 --block 3 --radius 2.48 --coefficients blocks:2 --seed 7"},
    Frozen{"e80824a2cfab11852a1725b75358417a", "adaptive --grid 12x11x10"},
    Frozen{"5c002da8cb5f03e7dbbba68040cf2b39", "adaptive --grid 12x11x10 --coefficients random --seed 4"},
    Frozen{"17b393517dd078e400695913dabeadf8", "adaptive --grid 12x11x10 --coefficients blocks:3"},
    Frozen{"e8d2cdead3ba876c2bdd59a95d8cd953", "epidemic --grid 41x23"},
    Frozen{"a4966af5c4f6ed350905e810795e51ea", "holstein-hubbard --sites 4 --electrons 4 --phonons 3"},
    Frozen{"4342151a9622f815c7c4d1749c6ffcaa", "holstein-hubbard --sites 3 --electrons 5 --phonons 6"},
    Frozen{"2d7bc88fe539173bfec2c0f4e3cc6c08", "lattice-qcd --sites 4"},
    Frozen{"3e4182dc56eefcc9894868519113970f", "lattice-qcd --sites 3 --seed 2"},
    Frozen{"3d9e94d51109ab6932d8966c22f4c4e9", "cage --monomers 8"},
};

TEST_CASE("the same words make the same matrix, whatever the version") {
  for (const auto& [digest, words] : frozen) {
    INFO(words);
    const auto [kind, options] = parse_kind(words);
    CHECK(content_digest(build_generated(*kind.make(options), {}).matrix.view()).to_string() == digest);
  }
}

TEST_CASE("there is a frozen matrix of every kind") {
  for (const Kind& kind : generator_kinds()) {
    INFO(kind.name);
    CHECK(std::any_of(frozen.begin(), frozen.end(),
                      [&](const Frozen& f) { return f.words.substr(0, f.words.find(' ')) == kind.name; }));
  }
}

TEST_CASE("words that are no options, or of other kinds, are refused") {
  for (const char* words : {"laplace3d --grid 3x3", "laplace2d --gird 3x3", "laplace2d --grid",
                            "laplace2d --grid 3x3 --variable", "laplace2d --grid 3x3 5"}) {
    INFO(words);
    CHECK_THROWS_AS(parse_kind(words), Error);
  }
}

}  // namespace
}  // namespace spmvpack::generators
