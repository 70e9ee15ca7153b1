/** A name of an image, and which image of that name it is. */
export interface ImageName {
  readonly name: string;
  /** Empty where only a digest says which. */
  readonly version: string;
}

/**
 * Takes a name with its tag apart: `localhost:5000/web:2.0` is `localhost:5000/web` and `2.0`. A digest (`@sha256:…`) is left out.
 */
export function imageNameFrom(reference: string): ImageName {
  const [tagged = ""] = reference.split("@", 1);
  // What comes before the last slash may be a registry with a port.
  const colon = tagged.indexOf(":", tagged.lastIndexOf("/") + 1);
  return colon === -1
    ? { name: tagged, version: "" }
    : { name: tagged.slice(0, colon), version: tagged.slice(colon + 1) };
}
