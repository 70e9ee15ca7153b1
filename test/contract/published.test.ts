import { test } from "tap";
import { factsOfFile, generatedFiles, readLedger } from "./ledger.ts";

/** Packages that are the gateway's own or belong to public protocols beside the five APIs. */
const otherPackages = /^(google|grpc|hostplane)\./;

const files = (await generatedFiles()).filter((file) => !otherPackages.test(file.proto.package));
const facts = new Set(files.flatMap(factsOfFile));
const published = readLedger("published.txt");
const added = readLedger("added.txt");

test("the ledger holds every published field, enum value and RPC, each once", async (t) => {
  const counted = published.filter((line) => /^(field|enum|rpc) /.test(line));
  t.equal(counted.length, 430);
  t.equal(new Set([...published, ...added]).size, published.length + added.length);
});

test("everything that was published is in the contract, unchanged", async (t) => {
  t.strictSame(
    published.filter((line) => !facts.has(line)),
    [],
  );
});

test("the published packages hold nothing else than what is listed as added", async (t) => {
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
