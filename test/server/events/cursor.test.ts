import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { cursorFrom, parseCursor } from "../../../server/events/cursor.ts";

const epochs = fc.oneof(fc.uuid(), fc.stringMatching(/^[\w.-]{1,40}$/));

test("every cursor that is created can be parsed", async () => {
  fc.assert(
    fc.property(epochs, fc.maxSafeNat(), (epoch, seq) => {
      const cursor = cursorFrom({ epoch, seq });
      const read = parseCursor(cursor);
      return /^[\w-]+$/.test(cursor) && read.epoch === epoch && read.seq === seq;
    }),
  );
});

/** Reports whether a text is refused with the expected error. @throws any other error */
function isRefused(text: string): boolean {
  try {
    parseCursor(text);
    return false;
  } catch (error) {
    const [violation] = error instanceof InfraError ? error.violations : [];
    if (!(error instanceof InfraError) || error.reason !== "INVALID_FIELD" || violation?.field !== "cursor") {
      throw error;
    }
    return true;
  }
}

test("any other text is refused", async () => {
  const encoded = fc.string().map((text) => Buffer.from(text).toString("base64url"));
  const nearly = fc
    .tuple(
      epochs,
      fc.oneof(fc.string(), fc.double(), fc.bigInt()),
      fc.constantFrom("", ".", " ", "=", "\n", "0"),
    )
    .map(([epoch, seq, end]) => Buffer.from(`${epoch}.${seq}${end}`).toString("base64url") + end);
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String(), encoded, nearly), (text) => {
      // A text that is accepted is exactly the cursor of its position.
      return isRefused(text) || cursorFrom(parseCursor(text)) === text;
    }),
    { numRuns: 2000 },
  );
});

test("a cursor with one changed character is refused or has another position", async () => {
  fc.assert(
    fc.property(epochs, fc.maxSafeNat(), fc.nat(), fc.constantFrom(..."Aa0-_=. "), (epoch, seq, at, by) => {
      const cursor = cursorFrom({ epoch, seq });
      const index = at % cursor.length;
      const changed = cursor.slice(0, index) + by + cursor.slice(index + 1);
      if (changed === cursor || isRefused(changed)) {
        return true;
      }
      const place = parseCursor(changed);
      return place.epoch !== epoch || place.seq !== seq;
    }),
    { numRuns: 2000 },
  );
});

test("invalid positions are refused", async (t) => {
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  const bad = ["", "x", ".5", "e", "e.", "e.-1", "e.01", "e. 1", "e.1e3", "e.9007199254740992", "e.Infinity"];
  for (const text of ["", "AAAA", ...bad.map(encode), encode(`${"e".repeat(200)}.1`)]) {
    t.ok(isRefused(text), text);
  }
});
