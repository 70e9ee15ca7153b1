import { sizeText } from "./size-text.ts";

/** Replaces the bytes in an error of the gateway, "free=5368709120, requested=10737418240", by "5 GiB free, 10 GiB requested". */
export function withSizes(text: string): string {
  return text.replaceAll(
    /\b(free|requested)=(\d+)/g,
    (_found, what: string, bytes: string) => `${sizeText(Number(bytes))} ${what}`,
  );
}
