#pragma once

/// Texts of files that the program carries with it (cmake/embed_texts.cmake).
namespace lockstep::embedded {

extern const char* const metrics_json;  ///< jobs/analysis/lockstep_analysis/metrics.json
extern const char* const report_html;   ///< jobs/observe/page/report.html
extern const char* const report_css;
extern const char* const report_js;
extern const char* const dygraphs_js;  ///< script from Debian's libjs-dygraphs
extern const char* const dygraphs_css;
extern const char* const dygraphs_licence;

}  // namespace lockstep::embedded
