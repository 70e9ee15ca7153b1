import type { FigureUnit } from "./sampled-resource.ts";

/** Names and units of the figures of a resource. Resources of one type share the same object. */
export interface FigureShape {
  readonly names: readonly string[];
  readonly units: readonly FigureUnit[];
  /** Returns the shape with one more figure. */
  with(name: string, unit: FigureUnit): FigureShape;
}

/** Creates the shape without figures, from which all others are derived. */
export function createEmptyShape(): FigureShape {
  return createShape([], []);
}

function createShape(names: readonly string[], units: readonly FigureUnit[]): FigureShape {
  const larger = new Map<string, FigureShape>();
  return {
    names,
    units,
    with(name, unit) {
      const key = `${unit} ${name}`;
      const known = larger.get(key) ?? createShape([...names, name], [...units, unit]);
      larger.set(key, known);
      return known;
    },
  };
}
