import { readdirSync, readFileSync } from 'node:fs'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formatsPlugin from 'ajv-formats'

const FOLDER = new URL('../../docs/json/', import.meta.url)

type Schema = { readonly [key: string]: unknown }

/** The schemas of the docs by file name without `.schema.json`. */
export function schemaNames(): string[] {
  return readdirSync(FOLDER)
    .filter(name => name.endsWith('.schema.json'))
    .map(name => name.replace('.schema.json', ''))
    .sort()
}

/** The parsed file, always the same object. */
export function schemaText(name: string): Schema {
  const read = texts.get(name) ?? (JSON.parse(readFileSync(new URL(`${name}.schema.json`, FOLDER), 'utf8')) as Schema)
  texts.set(name, read)
  return read
}

const texts = new Map<string, Schema>()

/**
 * Checks a document against a schema of the docs. Schemas let readers ignore fields that later versions add; here an
 * undescribed field is an error, so that no field is added without a description.
 *
 * @returns the errors, one sentence each
 */
export function faultsOf(name: string, document: unknown): string[] {
  const validate = validator(name)
  if (validate(document)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  )
}

let compiled: Ajv2020 | undefined

function validator(name: string): ValidateFunction {
  compiled ??= strictSchemas()
  const validate = compiled.getSchema(`${name}.schema.json`)
  if (validate === undefined) throw new Error(`docs/json has no ${name}.schema.json`)
  return validate
}

function strictSchemas(): Ajv2020 {
  // A part may list in `required` a field that its reference describes.
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, allowUnionTypes: true })
  formatsPlugin.default(ajv)
  for (const name of schemaNames()) ajv.addSchema(closed(schemaText(name)) as Schema, `${name}.schema.json`)
  return ajv
}

/** Marks schemas that larger objects include by `$ref`: those are closed there, together with the added fields. */
const PART = 'Part of larger objects.'

/** Every object accepts only the described properties. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const schema: Schema = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closed(part)]))
  const describesObject = schema.type === 'object' && ('properties' in schema || '$ref' in schema)
  if (!describesObject || schema.$comment === PART || 'additionalProperties' in schema) return schema
  return { ...schema, unevaluatedProperties: false }
}
