import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { InventorySource, Resource } from "../../../../server/domain/inventory-source.ts";

/** A source of a test, which changes on request. */
export interface SourceUnderTest extends InventorySource {
  /** Replaces the resources and notifies subscribers. */
  set(resources: readonly Resource[], staleBecause?: InfraError): void;
  /** Makes reads fail, and notifies subscribers. */
  fail(error: Error): void;
  /** Makes reads wait until their signal is aborted. */
  hang(): void;
  subscriberCount(): number;
}

export function createSourceUnderTest(
  domain: string,
  resources: readonly Resource[],
  services: readonly string[] = ["proto.VGService"],
): SourceUnderTest {
  let read: InventorySource["read"] = async () => ({ resources, readAtMs: performance.now() });
  const listeners = new Set<() => void>();
  const wake = () => {
    for (const listener of listeners) {
      listener();
    }
  };
  return {
    domain,
    types: ["volume", "pod"],
    services,
    read: (signal) => read(signal),
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    set(now, staleBecause) {
      read = async () => ({
        resources: now,
        readAtMs: staleBecause === undefined ? performance.now() : undefined,
        ...(staleBecause === undefined ? {} : { staleBecause }),
      });
      wake();
    },
    fail(error) {
      read = async () => {
        throw error;
      };
      wake();
    },
    hang() {
      read = (signal) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    subscriberCount: () => listeners.size,
  };
}

export function resource(name: string, facts: Partial<Resource> = {}): Resource {
  return {
    name,
    type: "volume",
    title: name.split("/").at(-1) ?? name,
    state: "active",
    health: "ok",
    figures: [],
    labels: {},
    ...facts,
  };
}
