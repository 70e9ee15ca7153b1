import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { labelTexts } from "../../parts/text/label-texts.ts";

/** The tags of a volume, "team=a" for a label with a value. */
export function tagsOf({ labels }: Resource): readonly string[] {
  return labelTexts(labels);
}

/** Parses tags that were typed into one line. */
export function parseTags(text: string): string[] {
  return text.split(/[\s,]+/).filter((tag) => tag !== "");
}
