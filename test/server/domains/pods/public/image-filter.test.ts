import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { test } from "tap";
import { ImageFilterSchema } from "../../../../../gen/v1alpha/api_pb.ts";
import { parseImageFilters } from "../../../../../server/domains/pods/public/image-filter.ts";
import { publicImage } from "../../../../../server/domains/pods/public/public-image.ts";
import { assertFiltersCombine } from "../assert-filters-combine.ts";
import { idOf, imageOf } from "../pods-under-test.ts";

type FilterInit = MessageInitShape<typeof ImageFilterSchema>;

const etcd = imageOf("1a", {
  names: ["quay.io/coreos/etcd:3.5", "localhost:5000/mirror/store:1"],
  labels: new Map([
    ["role", "db"],
    ["os", "linux"],
  ]),
  annotations: new Map([["note", "x"]]),
});
const backup = imageOf("2b", { names: ["k8s.io/etcd-backup:1"], labels: new Map([["role", "job"]]) });
const nameless = imageOf("3c", { createdAtNs: 1_600_000_000_000_000_000n });
const images = [etcd, backup, nameless];

const parse = (filters: readonly FilterInit[]) =>
  parseImageFilters(filters.map((filter) => create(ImageFilterSchema, filter)));

function found(...filters: readonly FilterInit[]): string {
  const matches = parse(filters);
  const names = new Map([
    [etcd, "etcd"],
    [backup, "backup"],
    [nameless, "nameless"],
  ]);
  return images
    .filter((image) => matches({ image, message: publicImage(image, undefined) }))
    .map((image) => names.get(image))
    .join(" ");
}

test("no filter and an empty filter match every image", async (t) => {
  t.equal(found(), "etcd backup nameless");
  t.equal(found({ ids: ["none"] }, {}), "etcd backup nameless");
});

test("ids must be complete, with or without a digest prefix", async (t) => {
  t.equal(found({ ids: [idOf("1a"), `sha256:${idOf("3c")}`] }), "etcd nameless");
  t.equal(found({ ids: ["1a"] }), "");
});

test("any name of an image may match, without its tag", async (t) => {
  t.equal(found({ fullNames: ["quay.io/coreos/etcd", "none"] }), "etcd");
  t.equal(found({ fullNames: ["localhost:5000/mirror/store"] }), "etcd");
  t.equal(found({ fullNames: ["quay.io/coreos/etcd:3.5", "etcd"] }), "");
  t.equal(found({ fullNames: [""] }), "nameless", "the name of an image without names is empty");
  t.equal(found({ baseNames: ["etcd"] }), "etcd", "not etcd-backup");
  t.equal(found({ baseNames: ["store", "etcd-backup"] }), "etcd backup");
  t.equal(found({ prefixes: ["k8s.io/", "localhost:5000/m"] }), "etcd backup");
  t.equal(found({ prefixes: ["etcd"] }), "");
  t.equal(found({ keywords: ["etcd"] }), "etcd backup");
  t.equal(found({ keywords: ["mirror", "none"] }), "etcd");
  t.equal(found({ keywords: ["3.5"] }), "");
});

test("all labels and annotations must match", async (t) => {
  t.equal(
    found({
      labels: [
        { Key: "role", value: "db" },
        { Key: "os", value: "linux" },
      ],
    }),
    "etcd",
  );
  t.equal(
    found({
      labels: [
        { Key: "role", value: "job" },
        { Key: "os", value: "linux" },
      ],
    }),
    "",
  );
  t.equal(found({ annotations: [{ Key: "note", value: "x" }] }), "etcd");
  t.equal(found({ annotations: [{ Key: "note", value: "" }] }), "");
});

test("times are exclusive, and ignored unless they are above 0", async (t) => {
  const at = 1_700_000_000n;
  t.equal(found({ importedAfter: at - 1n }), "etcd backup");
  t.equal(found({ importedAfter: at }), "");
  t.equal(found({ importedBefore: at }), "nameless");
  t.equal(found({ importedBefore: at + 1n }), "etcd backup nameless");
  t.equal(found({ importedAfter: 1_600_000_000n, importedBefore: at + 1n }), "etcd backup");
  t.equal(found({ importedAfter: -5n, importedBefore: -1n }), "etcd backup nameless");
  t.equal(found({ importedAfter: 2n ** 63n - 1n }), "");
});

const fields = [
  { ids: [idOf("1a"), idOf("3c")] },
  { prefixes: ["quay.io", "k8s.io"] },
  { baseNames: ["etcd-backup"] },
  { keywords: ["etcd"] },
  { fullNames: ["quay.io/coreos/etcd"] },
  { labels: [{ Key: "role", value: "job" }] },
  { annotations: [{ Key: "note", value: "x" }] },
  { importedAfter: 1_650_000_000n },
  { importedBefore: 1_650_000_000n },
] as const satisfies readonly FilterInit[];

test("fields are combined with AND and filters with OR", async () => {
  assertFiltersCombine<FilterInit>(fields, ["etcd", "backup", "nameless"], found);
});

test("filters that are too large are rejected", async (t) => {
  const error = (field: string) => ({
    name: "InfraError",
    reason: "INVALID_FIELD",
    violations: [{ field }],
  });
  t.throws(() => parse(Array(1_001).fill({})), error("filters"));
  t.throws(() => parse([{ fullNames: Array(1_001).fill("a") }]), error("filters[0].full_names"));
  t.throws(() => parse(Array(11).fill({ keywords: Array(1_000).fill("a") })), error("filters"));
});
