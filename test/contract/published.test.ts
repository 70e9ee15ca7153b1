import { test } from "tap";
import { factsOfFile, generatedFiles, readLedger } from "./ledger.ts";

/** Packages of the gateway itself and of public protocols, which are not part of the five APIs. */
const otherPackages = /^(csi|google|grpc|hostplane)\./;

const files = (await generatedFiles()).filter((file) => !otherPackages.test(file.proto.package));
const facts = new Set(files.flatMap(factsOfFile));
const published = readLedger("published.txt");
const added = readLedger("added.txt");

test("the ledger lists every published field, enum value and RPC once", async (t) => {
  const counted = published.filter((line) => /^(field|enum|rpc) /.test(line));
  t.equal(counted.length, 430);
  t.equal(new Set([...published, ...added]).size, published.length + added.length);
});

test("the contract includes everything that was published, unchanged", async (t) => {
  t.strictSame(
    published.filter((line) => !facts.has(line)),
    [],
  );
});

test("the published packages contain nothing beyond the listed additions", async (t) => {
  const known = new Set([...published, ...added]);
  t.strictSame(
    [...facts].filter((line) => !known.has(line)),
    [],
  );
  t.strictSame(
    added.filter((line) => !facts.has(line)),
    [],
  );
});
