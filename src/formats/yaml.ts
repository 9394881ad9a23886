import { Document, visit } from 'yaml'
import { API_VERSION, escapeHostile, hasHostile } from './json.ts'

/** YAML documents, each with the API version. Texts that could control a terminal are quoted and escaped. */
export function yamlDocuments(documents: readonly object[]): string {
  return documents.map(fields => yamlText({ apiVersion: API_VERSION, ...fields })).join('---\n')
}

/** One item of a YAML list: `- name: …`. */
export function yamlItem(fields: object): string {
  return yamlText([fields])
}

function yamlText(fields: object): string {
  // YAML 1.1 readers take 00:05:00 for a number and unquoted times for dates.
  const document = new Document(fields, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && hasHostile(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return escapeHostile(document.toString({ lineWidth: 0 }))
}
