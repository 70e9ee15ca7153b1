import fc from "fast-check";

/**
 * Asserts that the fields of a filter are combined with AND, and filters with OR.
 * @param fields filters with one field each
 * @param all names of all existing resources, in order
 * @param found names that filters match, separated by spaces
 */
export function assertFiltersCombine<Filter extends object>(
  fields: readonly Filter[],
  all: readonly string[],
  found: (...filters: readonly Filter[]) => string,
): void {
  const chosen = fc.array(fc.uniqueArray(fc.nat(fields.length - 1), { maxLength: 4 }), { maxLength: 4 });
  const ofField = fields.map((field) => new Set(found(field).split(" ")));
  fc.assert(
    fc.property(chosen, (choice) => {
      const filters = choice.map((numbers) => Object.assign({}, ...numbers.map((number) => fields[number])));
      const expected = all.filter(
        (name) =>
          choice.length === 0 ||
          choice.some((numbers) => numbers.every((number) => ofField[number]?.has(name) === true)),
      );
      return found(...filters) === expected.join(" ");
    }),
  );
}
