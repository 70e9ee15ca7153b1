import fc from "fast-check";

/**
 * Fails unless the fields of a filter go together as AND, and filters as OR, whichever they are.
 * @param fields filters of one field each
 * @param all what there is, in its order
 * @param found what filters find, as words
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
      const wanted = all.filter(
        (name) =>
          choice.length === 0 ||
          choice.some((numbers) => numbers.every((number) => ofField[number]?.has(name) === true)),
      );
      return found(...filters) === wanted.join(" ");
    }),
  );
}
