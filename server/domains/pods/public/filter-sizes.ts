import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { invalidField } from "../../../../adapters/host/infra-error.ts";

/** Maximum number of filters in a request, and of values in one list of a filter. */
const maxCount = 1_000;

/** Maximum number of values in all lists of a request: each may be compared with each pod. */
const maxTotal = 10_000;

/**
 * Rejects filters that would take too long to evaluate.
 * @param schema of a filter, whose lists are counted
 * @throws InfraError INVALID_FIELD
 */
export function assertFilterSizes<Filter extends DescMessage>(
  schema: Filter,
  filters: readonly MessageShape<Filter>[],
): void {
  if (filters.length > maxCount) {
    throw invalidField("filters", `expected at most ${maxCount}, got ${filters.length}`);
  }
  const lists = schema.fields.filter((field) => field.fieldKind === "list");
  let total = 0;
  for (const [index, filter] of filters.entries()) {
    const values = reflect(schema, filter);
    for (const field of lists) {
      const { size } = values.get(field);
      if (size > maxCount) {
        throw invalidField(
          `filters[${index}].${field.name}`,
          `expected at most ${maxCount} values, got ${size}`,
        );
      }
      total += size;
    }
  }
  if (total > maxTotal) {
    throw invalidField("filters", `expected at most ${maxTotal} values in all of them, got ${total}`);
  }
}
