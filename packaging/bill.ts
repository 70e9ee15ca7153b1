/** A package in a bill of materials: the part of a CycloneDX component that is read here. */
export interface BillComponent {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  /** E.g. `MIT`, as npm read it from the package. */
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string };
    readonly expression?: string;
  }[];
}

/** A bill of materials in CycloneDX JSON, as `npm sbom` writes it. */
export interface Bill {
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: BillComponent };
  readonly components: readonly BillComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * Reduces a bill to the named packages and everything that they need.
 * @param direct names of direct dependencies
 * @param isShipped whether a package found among their dependencies is part of the product
 * @throws Error for a direct dependency that the bill does not have
 */
export function billOf(
  bill: Bill,
  direct: readonly string[],
  isShipped: (component: BillComponent) => boolean,
): Bill {
  const rootRef = bill.metadata.component["bom-ref"];
  const byRef = new Map(bill.components.map((component) => [component["bom-ref"], component]));
  const dependenciesOf = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const shippedOf = (ref: string) =>
    (dependenciesOf.get(ref) ?? []).filter((each) => {
      const component = byRef.get(each);
      return component !== undefined && isShipped(component);
    });
  const directRefs = direct.map((name) => {
    const ref = dependenciesOf.get(rootRef)?.find((each) => byRef.get(each)?.name === name);
    if (ref === undefined) {
      throw new Error(`${name} is not a dependency of package.json`);
    }
    return ref;
  });
  const reached = new Set<string>();
  const waiting = [...directRefs];
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    if (!reached.has(ref)) {
      reached.add(ref);
      waiting.push(...shippedOf(ref));
    }
  }
  return {
    ...bill,
    components: bill.components.filter((component) => reached.has(component["bom-ref"])),
    dependencies: [
      { ref: rootRef, dependsOn: directRefs },
      ...[...reached].toSorted().map((ref) => ({ ref, dependsOn: shippedOf(ref) })),
    ],
  };
}
