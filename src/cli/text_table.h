// TextTable: columns that line up, for people at a terminal. The last column is not padded.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace relay::cli {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> columns) { add(std::move(columns)); }

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const std::vector<std::string>& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        out += row[i];
        if (i + 1 < row.size()) out.append(width(i) + 2 - std::min(row[i].size(), width(i)), ' ');
      }
      out += '\n';
    }
    return out;
  }

 private:
  [[nodiscard]] std::size_t width(std::size_t column) const {
    std::size_t widest = 0;
    for (const std::vector<std::string>& row : rows_) widest = std::max(widest, row[column].size());
    return widest;
  }

  std::vector<std::vector<std::string>> rows_;
};

}  // namespace relay::cli
