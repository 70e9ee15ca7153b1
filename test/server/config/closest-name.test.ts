import fc from "fast-check";
import { test } from "tap";
import { closestName } from "../../../server/config/closest-name.ts";

const names = ["listen", "data", "limits", "deviceClasses"];

test("finds the name meant by a typing error", async (t) => {
  t.equal(closestName("limit", names), "limits");
  t.equal(closestName("lisetn", names), "listen");
  t.equal(closestName("deviceclasses", names), "deviceClasses");
});

test("suggests nothing that is too different", async (t) => {
  t.equal(closestName("volumes", names), undefined);
  t.equal(closestName("", names), undefined);
  t.equal(closestName("x".repeat(100_000), names), undefined);
});

test("one additional character is always recognised", async () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.nat(),
      fc.string({ minLength: 1, maxLength: 1 }),
      (name, at, extra) => {
        const place = at % (name.length + 1);
        return closestName(name.slice(0, place) + extra + name.slice(place), names) === name;
      },
    ),
  );
});
