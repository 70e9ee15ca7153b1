import fc from "fast-check";
import { test } from "tap";
import { matchesEtag } from "../../../../../server/rpc/protocols/http/etag.ts";

const etag = '"abc-br"';

test("a client has the answer if it sends its tag, alone or in a list, weak or not, or *", (t) => {
  for (const header of [etag, `W/${etag}`, ` "x" , W/${etag},"y"`, `"a,b", ${etag}`, "*", " * "]) {
    t.ok(matchesEtag(header, etag), header);
  }
  for (const header of [undefined, "", "abc-br", '"abc"', '"ABC-BR"', '"*"', '"x abc-br"', '"abc-br']) {
    t.notOk(matchesEtag(header, etag), String(header));
  }
  t.end();
});

/** The first and the last allowed characters, and those with a meaning outside quotes. */
const opaqueTag = fc
  .array(fc.constantFrom("a", ",", "W", "/", "*", "!", "#", "~", "\x80", "\xff"), { maxLength: 3 })
  .map((characters) => `"${characters.join("")}"`);

test("a list of any tags matches exactly the tags that are equal apart from weakness", async () => {
  const weakness = fc.constantFrom("", "W/");
  const separator = fc.constantFrom(",", ", ", " ,\t", ", ,");
  const listed = fc.record({ isOwn: fc.boolean(), other: opaqueTag, weak: weakness, after: separator });
  fc.assert(
    fc.property(fc.array(listed, { maxLength: 4 }), opaqueTag, weakness, (list, opaque, weak) => {
      const tags = list.map((tag) => ({ ...tag, opaque: tag.isOwn ? opaque : tag.other }));
      const header = tags.map((tag) => tag.weak + tag.opaque + tag.after).join("");
      return matchesEtag(header, weak + opaque) === tags.some((tag) => tag.opaque === opaque);
    }),
  );
});

test("no header matches a tag that is not in it", async () => {
  const piece = fc.oneof(opaqueTag, fc.constantFrom('"', "W/", "*", ",", " "), fc.string());
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), opaqueTag, (pieces, opaque) => {
      const header = pieces.join("");
      return !matchesEtag(header, opaque) || header.trim() === "*" || header.includes(opaque);
    }),
  );
});
