import type { DescriptorProto, EnumDescriptorProto, FileDescriptorProto } from "@bufbuild/protobuf/wkt";

/** Field numbers in google/protobuf/descriptor.proto, which the paths of source info consist of. */
const file = { message: 4, enum: 5, service: 6 };
const message = { field: 2, nested: 3, enum: 4, oneof: 8 };
const values = 2;
const methods = 2;

/**
 * Returns the full names of a file's declarations by their paths in source info, joined by dots. The value of an enum is named
 * below the enum, e.g. `proto.StateType.ERROR`.
 */
export function pathNames(proto: FileDescriptorProto): ReadonlyMap<string, string> {
  const names = new Map<string, string>();

  function addEnum({ name, value }: EnumDescriptorProto, scope: string, path: string): void {
    names.set(path, `${scope}.${name}`);
    for (const [index, one] of value.entries()) {
      names.set(`${path}.${values}.${index}`, `${scope}.${name}.${one.name}`);
    }
  }

  function addMessage(proto: DescriptorProto, scope: string, path: string): void {
    const name = `${scope}.${proto.name}`;
    names.set(path, name);
    for (const [index, field] of proto.field.entries()) {
      names.set(`${path}.${message.field}.${index}`, `${name}.${field.name}`);
    }
    for (const [index, oneof] of proto.oneofDecl.entries()) {
      names.set(`${path}.${message.oneof}.${index}`, `${name}.${oneof.name}`);
    }
    for (const [index, nested] of proto.nestedType.entries()) {
      addMessage(nested, name, `${path}.${message.nested}.${index}`);
    }
    for (const [index, nested] of proto.enumType.entries()) {
      addEnum(nested, name, `${path}.${message.enum}.${index}`);
    }
  }

  for (const [index, one] of proto.messageType.entries()) {
    addMessage(one, proto.package, `${file.message}.${index}`);
  }
  for (const [index, one] of proto.enumType.entries()) {
    addEnum(one, proto.package, `${file.enum}.${index}`);
  }
  for (const [index, service] of proto.service.entries()) {
    const name = `${proto.package}.${service.name}`;
    names.set(`${file.service}.${index}`, name);
    for (const [methodIndex, method] of service.method.entries()) {
      names.set(`${file.service}.${index}.${methods}.${methodIndex}`, `${name}.${method.name}`);
    }
  }
  return names;
}
