import { invalidField } from "../../../adapters/host/infra-error.ts";
import type { HostLabel } from "../../../gen/hostplane/v1/fleet_pb.ts";

type Label = Pick<HostLabel, "name" | "value">;

const maxLabels = 32;
const namePattern = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const valuePattern = /^([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$/;

/**
 * Checks the labels of a request.
 * @throws InfraError INVALID_FIELD for `labels`, which names the label and the limit
 */
export function parseLabels(labels: readonly Label[]): Readonly<Record<string, string>> {
  if (labels.length > maxLabels) {
    throw invalidField("labels", `expected at most ${maxLabels} labels, got ${labels.length}`);
  }
  const characters = "letters, digits, '-', '_' and '.', with a letter or digit at both ends";
  for (const { name, value } of labels) {
    if (!namePattern.test(name)) {
      throw invalidField("labels", `"${name}": expected a name of 1 to 63 characters: ${characters}`);
    }
    if (!valuePattern.test(value)) {
      throw invalidField("labels", `${name}: expected a value of at most 63 characters: ${characters}`);
    }
  }
  const parsed = Object.fromEntries(labels.map(({ name, value }) => [name, value]));
  if (Object.keys(parsed).length < labels.length) {
    throw invalidField("labels", "expected each name once");
  }
  return parsed;
}
