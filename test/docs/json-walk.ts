import { schemaText } from './schemas.ts'

/** A field, and the schema that describes it. */
export interface Field {
  readonly key: string
  readonly schema: object
}

/** Every field that a schema describes, including those of its parts. Fields in conditions are omitted. */
export function fieldsOf(schema: unknown): Field[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsOf)
  if (!isObject(schema)) return []
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'if' || keyword === 'then' || keyword === 'else') return []
    return [...(keyword === 'properties' ? ownFields(value) : []), ...fieldsOf(value)]
  })
}

function ownFields(properties: unknown): Field[] {
  return Object.entries(properties ?? {}).flatMap(([key, schema]) => (isObject(schema) ? [{ key, schema }] : []))
}

/** Adds the descriptions of the fields of a value to `seen`. */
export function markFields(schema: unknown, value: unknown, seen: Set<object>): void {
  if (Array.isArray(schema)) for (const one of schema) markFields(one, value, seen)
  if (!isObject(schema) || Array.isArray(schema)) return
  const { $ref, properties, items, anyOf, oneOf, allOf } = schema
  for (const part of [typeof $ref === 'string' ? target($ref) : undefined, anyOf, oneOf, allOf]) {
    markFields(part, value, seen)
  }
  if (Array.isArray(value)) for (const one of value) markFields(items, one, seen)
  else if (isObject(value)) {
    for (const field of ownFields(properties)) {
      if (!(field.key in value)) continue
      seen.add(field.schema)
      markFields(field.schema, value[field.key], seen)
    }
  }
}

/** Copies of a value; in each of them another of its objects has one extra field. */
export function withOneMore(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return value.flatMap((one, at) => withOneMore(one).map(other => value.with(at, other)))
  }
  if (!isObject(value)) return []
  const within = Object.entries(value).flatMap(([key, one]) =>
    withOneMore(one).map(other => ({ ...value, [key]: other })),
  )
  return [{ ...value, undescribed: true }, ...within]
}

/** The schema that `parts.schema.json#/$defs/lease` refers to. */
function target(ref: string): unknown {
  const [file = '', path = ''] = ref.split('#')
  const root: unknown = schemaText(file.replace('.schema.json', ''))
  return path
    .split('/')
    .filter(key => key !== '')
    .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), root)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
