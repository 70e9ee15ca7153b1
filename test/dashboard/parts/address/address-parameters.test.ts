import { test } from "tap";
import {
  hashWithParameter,
  parameterOfHash,
  pathOfHash,
} from "../../../../dashboard/parts/address/address-parameters.ts";

test("the parameters of a page are separate from its path", async (t) => {
  t.equal(pathOfHash("#/events?topic=pods"), "#/events");
  t.equal(pathOfHash("/volumes/vg0/data"), "/volumes/vg0/data");
  t.equal(parameterOfHash("#/events?topic=pods&resource=a%2Fb", "resource"), "a/b");
  t.equal(parameterOfHash("#/events", "topic"), "");
});

test("a parameter is set, changed and removed; the others stay", async (t) => {
  const filtered = hashWithParameter("#/events", "topic", "pods");
  t.equal(filtered, "#/events?topic=pods");
  const both = hashWithParameter(filtered, "resource", "pods/a?b&c=d");
  t.equal(parameterOfHash(both, "resource"), "pods/a?b&c=d");
  t.equal(parameterOfHash(both, "topic"), "pods");
  t.equal(hashWithParameter(hashWithParameter(both, "topic", ""), "resource", ""), "#/events");
});
