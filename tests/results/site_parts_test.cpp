// The texts of the pages of a site.
#include "results/presentation/site_parts.h"

#include <utility>

#include "tests/catch.h"

using namespace posbench;

TEST_CASE("a name with other letters than ASCII is kept, and may be broken after '_' and ':'") {
  const Report none;
  const SiteContents contents{.reference = {"none", none}};
  const SiteSource source{contents, SiteAddresses(contents), {}, {}, {}};
  SiteText text(source, "");
  text.add_links("Names", Named::encoding, {"größe_α:<b>"});
  CHECK(std::move(text).finish().content == "<p>Names: größe_<wbr>α:<wbr>&lt;b&gt;</p>\n");
}
