import { addCopyButton } from "./copy-button.ts";
import { newAddressOf } from "./old-links.ts";
import { withOwnAddress } from "./own-address.ts";
import { addSearchBox } from "./search-box.ts";
import { loadSearchEntries } from "./search-entries.ts";
import { addTryIt } from "./try-it.ts";

// Everything that the pages of /docs do beyond being read: server/web/docs renders them.

for (const example of document.querySelectorAll<HTMLElement>(".example")) {
  const code = example.querySelector("code");
  if (code !== null) {
    code.textContent = withOwnAddress(code.textContent, location);
    addCopyButton(example);
  }
}
for (const section of document.querySelectorAll<HTMLElement>("section.rpc")) {
  addTryIt(section);
}
const place = document.getElementById("search");
if (place !== null) {
  addSearchBox(place);
}
if (location.pathname === "/docs" && location.hash !== "") {
  const address = newAddressOf(location.hash, await loadSearchEntries().catch(() => []));
  if (address !== undefined) {
    location.replace(address);
  }
}
