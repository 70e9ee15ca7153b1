import fc from "fast-check";
import { test } from "tap";
import { errorFromRefusal, errorFromReservation, quotedWords } from "../../../adapters/maas/errors.ts";
import { codePoint } from "../../code-point.ts";

const ofMachine = { what: "release", systemId: "m6rnsc" };

test("MAAS's message decides where the status is ambiguous", async (t) => {
  const table = [
    [409, "No machine with system ID m6rnsc available.", "MACHINE_TAKEN"],
    [409, "No available machine matches constraints: [('mem', ['9'])]", "NO_MACHINE"],
    [409, "No machine available.", "NO_MACHINE"],
    [409, "Can't deploy a machine that is in the 'Deploying' state", "MACHINE_STATE"],
    [409, "Cannot set workload annotation: it hasn't been acquired.", "MACHINE_STATE"],
    [404, "No Machine matches the given query.", "MACHINE_NOT_FOUND"],
    [404, "No Node matches the given query.", "MACHINE_NOT_FOUND"],
    [404, "Not Found", "MAAS_FAILED"],
    [404, "", "MAAS_FAILED"],
    [404, "Unknown API endpoint: /MAAS/api/2.0/machines.", "MAAS_FAILED"],
    [400, "tags: No such tag(s): 'nope'.", "MAAS_REFUSED"],
    [400, "Deployment operating system ubuntu jammy is unavailable.", "MAAS_REFUSED"],
    [400, "Unrecognised signature: method=POST op=nonsense", "MAAS_FAILED"],
    [403, "", "MAAS_DENIED"],
  ] as const;
  for (const [status, words, reason] of table) {
    t.equal(errorFromRefusal({ status, words }, ofMachine).reason, reason, `${status} ${words}`);
  }
  t.match(errorFromRefusal({ status: 404, words: "No Machine matches the given query." }, { what: "list" }), {
    reason: "MAAS_FAILED",
  });
  t.match(errorFromRefusal({ status: 409, words: "x" }, ofMachine), { resource: "maas/machines/m6rnsc" });
});

test("an address in use is distinguished from one that cannot be reserved", async (t) => {
  const table = [
    [404, "The IP address 10.20.0.9 is already in use.", "ADDRESS_TAKEN"],
    [404, "10.20.0.9 is within the reserved range from 10.20.0.1 to 10.20.0.10", "MAAS_REFUSED"],
    [403, "10.9.0.9 is not within subnet CIDR: 10.20.0.0/24", "MAAS_REFUSED"],
    [404, "No Domain matches the given query.", "MAAS_REFUSED"],
    [404, "Not Found", "MAAS_FAILED"],
    [403, "", "MAAS_DENIED"],
  ] as const;
  for (const [status, words, reason] of table) {
    t.equal(errorFromReservation({ status, words }, { what: "reserve" }).reason, reason, words);
  }
});

test("quoted text is one short line of plain words", async (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom("text/plain", "application/json; charset=utf-8", "text/html", "", "image/png"),
      fc.oneof(fc.string({ unit: codePoint }), fc.json()),
      (type, body) => {
        const words = quotedWords(type, body);
        return (
          words.length <= 400 &&
          !/\p{Cc}/u.test(words) &&
          (!/^(text\/html|image|$)/.test(type) || words === "")
        );
      },
    ),
  );
  t.equal(quotedWords("text/plain", "a word ".repeat(90)).length, 400);
  t.equal(quotedWords("text/plain", `Failed: ${"a".repeat(900)} it did`), "Failed: … it did");
  t.equal(quotedWords("application/json", '"word"'), "word");
  t.equal(quotedWords("application/json", "{"), "");
});
