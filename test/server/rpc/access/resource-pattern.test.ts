import fc from "fast-check";
import { test } from "tap";
import {
  explainPattern,
  globFrom,
  parseResourcePattern,
  patternMaxLength,
} from "../../../../server/rpc/access/resource-pattern.ts";

test("a pattern covers what it matches and everything below", (t) => {
  const { covers, mayCoverBelow } = parseResourcePattern("volumeGroups/vg*/volumes/db-*");
  t.ok(covers("volumeGroups/vg0/volumes/db-"));
  t.ok(covers("volumeGroups/vg0/volumes/db-1"));
  t.ok(covers("volumeGroups/vg0/volumes/db-1/parts/2"));
  t.notOk(covers("volumeGroups/vg0/volumes/web"));
  t.notOk(covers("volumeGroups/vg0"));
  t.notOk(covers("x/volumeGroups/vg0/volumes/db-1"));
  t.ok(mayCoverBelow("volumeGroups"));
  t.ok(mayCoverBelow("volumeGroups/vg0"));
  t.notOk(mayCoverBelow("volumeGroups/other"));
  t.notOk(mayCoverBelow("volumeGroups/vg0/volumes/db-1"));
  t.end();
});

test("a wildcard does not match a slash", (t) => {
  const { covers } = parseResourcePattern("pods/*/x");
  t.notOk(covers("pods/a/b/x"));
  t.ok(covers("pods/a/x"));
  t.end();
});

test("a text that is no pattern is rejected with what was expected", (t) => {
  for (const text of ["", "/a", "a/", "a//b"]) {
    t.match(explainPattern(text), /expected the name of a resource/, text);
  }
  for (const text of ["a?", "[a]", "{a,b}", "a b", "a\\b", "!a", "a\u0000"]) {
    t.match(explainPattern(text), /only wildcard/, text);
  }
  t.match(explainPattern("a".repeat(patternMaxLength + 1)), /at most 256 characters/);
  t.equal(explainPattern("volumeGroups/vg0/volumes/a+b_c.d@e:f-*"), undefined);
  t.end();
});

const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 12 });
const words = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });

test("a glob matches as its definition says", (t) => {
  const matches = (glob: string, text: string): boolean => {
    if (glob === "") {
      return text === "";
    }
    if (glob.startsWith("*")) {
      return matches(glob.slice(1), text) || (text !== "" && matches(glob, text.slice(1)));
    }
    return glob[0] === text[0] && matches(glob.slice(1), text.slice(1));
  };
  fc.assert(fc.property(letters, words, (glob, text) => globFrom(glob)(text) === matches(glob, text)));
  t.pass("for any glob and text");
  t.end();
});

test("a hostile glob takes time in proportion to the text", (t) => {
  const glob = globFrom("a*".repeat(127));
  const cpuMsFor = (text: string) => {
    const before = process.cpuUsage();
    for (let count = 0; count < 200; count++) {
      glob(text);
    }
    return process.cpuUsage(before).user / 1000;
  };
  cpuMsFor("a".repeat(1000));
  const short = cpuMsFor(`${"a".repeat(1000)}b`);
  const long = cpuMsFor(`${"a".repeat(16_000)}b`);
  t.ok(long < 50 * Math.max(short, 5), `${short} ms, and ${long} ms for a text that is 16 times as long`);
  t.end();
});
