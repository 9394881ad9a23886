import { Document, visit } from 'yaml'
import { API_VERSION, escapeHostile, hasHostile } from './json.ts'

/** Documents in YAML, each with the version of the API. Texts that could steer a terminal are quoted and escaped. */
export function yamlDocuments(documents: readonly object[]): string {
  return documents.map(fields => yamlText({ apiVersion: API_VERSION, ...fields })).join('---\n')
}

/** One item of a list in YAML: `- name: …`. */
export function yamlItem(fields: object): string {
  return yamlText([fields])
}

function yamlText(fields: object): string {
  // Readers of YAML 1.1 take 00:05:00 for a number and times for dates unless they are quoted.
  const document = new Document(fields, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && hasHostile(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return escapeHostile(document.toString({ lineWidth: 0 }))
}
