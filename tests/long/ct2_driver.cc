// ct2_driver.cc - runs a CTranslate2 model on tokens, for ct2_peer.py.
//
//     ct2_driver DIR TYPE score                    read SOURCE TAB TARGET
//     ct2_driver DIR TYPE translate BEAM PENALTY MAX [NEVER ..]
//                                                  read SOURCE [TAB PREFIX]
//
// Reads lines of tokens that are separated by spaces. `score` prints the
// log-probabilities of the tokens of the target and of its end. `translate`
// prints the score, a tab and the tokens, which begin with the prefix; NEVER are
// tokens that may not come out. TYPE is that of the computation.
#include <ctranslate2/translator.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>

namespace {

using Tokens = std::vector<std::string>;

Tokens split(const std::string& s) {
  std::istringstream in(s);
  Tokens out;
  for (std::string token; in >> token;) out.push_back(token);
  return out;
}

void read_lines(std::vector<Tokens>& left, std::vector<Tokens>& right) {
  for (std::string line; std::getline(std::cin, line);) {
    const size_t tab = line.find('\t');
    left.push_back(split(line.substr(0, tab)));
    right.push_back(tab == std::string::npos ? Tokens()
                                             : split(line.substr(tab + 1)));
  }
}

void score(ctranslate2::Translator& t) {
  std::vector<Tokens> source, target;
  read_lines(source, target);
  for (const auto& result : t.score_batch(source, target, {}, 16)) {
    for (const float x : result.tokens_score) std::printf("%.7f ", x);
    std::printf("\n");
  }
}

void translate(ctranslate2::Translator& t, char** argv) {
  std::vector<Tokens> source, prefix;
  ctranslate2::TranslationOptions o;
  read_lines(source, prefix);
  o.beam_size = std::atoi(argv[0]);
  o.length_penalty = std::atof(argv[1]);
  o.max_decoding_length = std::atoi(argv[2]);
  o.return_scores = true;
  for (argv += 3; *argv; argv++) o.suppress_sequences.push_back({*argv});
  for (const auto& result : t.translate_batch(source, prefix, o, 16)) {
    std::printf("%.7f\t", result.score());
    for (const auto& token : result.output()) std::printf("%s ", token.c_str());
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string mode = argc > 3 ? argv[3] : "";
  if (mode != "score" && (mode != "translate" || argc < 7)) {
    std::cerr << "ct2_driver: wrong arguments\n";
    return 2;
  }
  ctranslate2::models::ModelLoader loader(argv[1]);
  loader.compute_type = ctranslate2::str_to_compute_type(argv[2]);
  ctranslate2::Translator translator(loader.load(), {1, 0, -1});
  if (mode == "score") score(translator);
  else translate(translator, argv + 4);
} catch (const std::exception& e) {
  std::cerr << "ct2_driver: " << e.what() << "\n";
  return 1;
}
