/** A name of an image, and its version. */
export interface ImageName {
  readonly name: string;
  /** Empty if there is only a digest. */
  readonly version: string;
}

/** Splits a name and its tag: `localhost:5000/web:2.0` is `localhost:5000/web` and `2.0`. A digest (`@sha256:…`) is dropped. */
export function imageNameFrom(reference: string): ImageName {
  const [tagged = ""] = reference.split("@", 1);
  // Anything before the last slash may be a registry with a port.
  const colon = tagged.indexOf(":", tagged.lastIndexOf("/") + 1);
  return colon === -1
    ? { name: tagged, version: "" }
    : { name: tagged.slice(0, colon), version: tagged.slice(colon + 1) };
}
