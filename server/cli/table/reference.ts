import { InventoryService } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { Session } from "./session.ts";

/** A resource as a user may name it. */
export interface Named {
  readonly id: string;
  /** Names that the RPCs accept as well. */
  readonly names: readonly string[];
}

/** Resources that an argument names. */
export interface Reference {
  /** The noun whose commands take it; completion finds the reference by it. */
  readonly noun: string;
  /** Lists the resources that the caller may see. */
  list(session: Session): Promise<readonly Named[]>;
  /** An id in full, for which no resource needs to be looked up. Ids that are names have no prefixes. */
  readonly fullId: RegExp;
}

/** The form of an id that is a name: anything. */
export const anyName = /(?:)/;

export const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Refers to the resources of a type of the inventory. Their id is the last part of their name. */
export function inventoryReference(noun: string, type: string, fullId: RegExp): Reference {
  return {
    noun,
    fullId,
    async list(session) {
      const request = { filter: { types: [type] }, pageSize: 1000 };
      const { message } = await session.call(InventoryService.method.listResources, request);
      return message.resources.map(({ name, title }) => ({
        id: name.slice(name.lastIndexOf("/") + 1),
        names: [title],
      }));
    },
  };
}

/**
 * Finds the resource that a user means: by its id, a name, or a unique prefix of its id, also without hyphens. Returns the text
 * itself if there is none, so that the gateway refuses it.
 * @throws Error when a prefix fits several ids
 */
export async function resolveReference(
  typed: string,
  reference: Reference,
  session: Session,
): Promise<string> {
  if (reference.fullId.test(typed)) {
    return typed;
  }
  const all = await reference.list(session);
  const named = all.filter(({ id, names }) => id === typed || names.includes(typed));
  if (named.length > 0) {
    return named.length === 1 ? (named[0]?.id ?? typed) : typed;
  }
  const prefix = bare(typed);
  const found = all.filter(({ id }) => prefix !== "" && bare(id).startsWith(prefix));
  if (found.length > 1) {
    const some = found.slice(0, 3).map(({ id }) => id);
    const more = found.length > some.length ? ", ..." : "";
    throw new Error(`${reference.noun} ${typed} is ambiguous: ${some.join(", ")}${more}`);
  }
  return found[0]?.id ?? typed;
}

function bare(id: string): string {
  return id.replaceAll("-", "").toLowerCase();
}
