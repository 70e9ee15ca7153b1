import { hasReason, InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import { positionFromToken, positionTokenFrom } from "../../../../rpc/listing/position-token.ts";
import type { CsiVolume } from "../csi-volume.ts";
import { csiReasons } from "../reasons.ts";

/** A part of a list. */
export interface CsiPage {
  readonly entries: readonly CsiVolume[];
  /** Empty on the last page. */
  readonly nextToken: string;
}

/**
 * Returns the page of a list that begins after the position of a token. The position is an ID, so that entries which are added or
 * removed between two pages neither repeat nor hide another one.
 * @param all by ID
 * @throws InfraError INVALID_FIELD; CSI_TOKEN for a text that is not a token of this list
 */
export function pageOf(
  all: readonly CsiVolume[],
  request: { readonly maxEntries: number; readonly startingToken: string },
  filters: object,
): CsiPage {
  const { maxEntries, startingToken } = request;
  if (maxEntries < 0) {
    throw invalidField("max_entries", `must be at least 0, is ${maxEntries}`);
  }
  const afterId = positionOf(startingToken, filters);
  const rest = afterId === undefined ? all : all.filter(({ id }) => id > afterId);
  const entries = maxEntries === 0 ? rest : rest.slice(0, maxEntries);
  const last = entries.at(-1);
  const isWhole = last === undefined || entries.length === rest.length;
  return { entries, nextToken: isWhole ? "" : positionTokenFrom([last.id], filters) };
}

function positionOf(token: string, filters: object): string | undefined {
  try {
    return positionFromToken(token, filters, (position) =>
      Array.isArray(position) && typeof position[0] === "string" ? position[0] : undefined,
    );
  } catch (error) {
    throw hasReason(error, hostReasons.INVALID_FIELD)
      ? new InfraError(csiReasons.CSI_TOKEN, "starting_token: expected the next_token of an earlier list")
      : error;
  }
}
