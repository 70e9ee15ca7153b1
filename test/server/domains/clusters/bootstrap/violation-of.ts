import { InfraError } from "../../../../../adapters/host/infra-error.ts";

/**
 * Returns the violation of an assertion, such as `name: must not be empty`; undefined when there is none. Other errors are
 * rethrown.
 */
export function violationOf(assertion: () => unknown): string | undefined {
  try {
    assertion();
    return undefined;
  } catch (error) {
    if (!(error instanceof InfraError) || error.reason !== "INVALID_FIELD") {
      throw error;
    }
    return `${error.violations[0]?.field}: ${error.violations[0]?.description}`;
  }
}
