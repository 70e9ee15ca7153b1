import { errorsPath, servicePath } from "./anchors.ts";
import { errorsPage } from "./errors-page.ts";
import { indexPage } from "./index-page.ts";
import { type PageContract, servicesOf } from "./page-contract.ts";
import { pageDocument } from "./page-frame.ts";
import { searchIndex } from "./search-index.ts";
import { servicePage } from "./service-page.ts";

/** Path of the list of everything that the search finds, as JSON. */
const searchPath = "/docs/search.json";

/**
 * Renders the documentation of a contract: an index, a page per service, the table of reasons, and the list for the search, by
 * path. It yields between steps, so that other work can run.
 */
export function* docsPages(contract: PageContract): Generator<void, ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  pages.set("/docs", pageDocument({ title: "API", content: indexPage(contract) }, contract));
  yield;
  for (const current of servicesOf(contract)) {
    const content = yield* servicePage(current, contract);
    const page = { title: current.service.typeName, current, content };
    pages.set(servicePath(current.service), pageDocument(page, contract));
    yield;
  }
  pages.set(errorsPath, pageDocument({ title: "Errors", content: errorsPage(contract.errors) }, contract));
  yield;
  pages.set(searchPath, JSON.stringify(yield* searchIndex(contract)));
  return pages;
}
