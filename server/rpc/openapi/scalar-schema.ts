import { type JsonObject, ScalarType } from "@bufbuild/protobuf";

const wholeNumbers: Readonly<
  Partial<Record<ScalarType, readonly [format: string, min: number, max: number]>>
> = {
  [ScalarType.INT32]: ["int32", -0x80000000, 0x7fffffff],
  [ScalarType.SINT32]: ["int32", -0x80000000, 0x7fffffff],
  [ScalarType.SFIXED32]: ["int32", -0x80000000, 0x7fffffff],
  [ScalarType.UINT32]: ["uint32", 0, 0xffffffff],
  [ScalarType.FIXED32]: ["uint32", 0, 0xffffffff],
};

const unsigned64: readonly ScalarType[] = [ScalarType.UINT64, ScalarType.FIXED64];

/** Returns the JSON Schema of a scalar in proto JSON: 64-bit integers are strings; requests may also write them as numbers. */
export function scalarSchema(scalar: ScalarType, isAnswer: boolean): JsonObject {
  const whole = wholeNumbers[scalar];
  if (whole !== undefined) {
    const [format, minimum, maximum] = whole;
    return { type: "integer", format, minimum, maximum };
  }
  switch (scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", format: "byte", contentEncoding: "base64" };
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE: {
      const format = scalar === ScalarType.FLOAT ? "float" : "double";
      return { anyOf: [{ type: "number", format }, { enum: ["NaN", "Infinity", "-Infinity"] }] };
    }
    default: {
      const isUnsigned = unsigned64.includes(scalar);
      const format = isUnsigned ? "uint64" : "int64";
      const pattern = isUnsigned ? "^[0-9]{1,20}$" : "^-?[0-9]{1,19}$";
      const text = { type: "string", format, pattern };
      return isAnswer ? text : { anyOf: [text, { type: "integer", ...(isUnsigned ? { minimum: 0 } : {}) }] };
    }
  }
}
