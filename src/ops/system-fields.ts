import { StoreIncompatible } from '../store/errors.ts'
import { BadDocument } from '../stream/errors.ts'
import { isObject } from '../stream/values.ts'

/** The version of all system documents. */
export const API_VERSION = 'leasectl/v1'

/** The text of a system document in JSON, with line breaks for those who read it in a storage browser. */
export function systemText(kind: string, fields: object): string {
  return `${JSON.stringify({ apiVersion: API_VERSION, kind, ...fields }, undefined, 2)}\n`
}

/**
 * The fields of a system document in JSON; `name` is its own.
 *
 * @throws `StoreIncompatible` if a newer leasectl wrote it, `BadDocument` if it is damaged or of another kind
 */
export function systemFields(name: string, text: string, kind: string): Readonly<Record<string, unknown>> {
  const fields = objectOf(text)
  if (fields === undefined) throw damaged(name, 'it is not a JSON object')
  const { apiVersion, kind: found } = fields
  if (typeof apiVersion === 'string' && /^leasectl\/v\d+$/.test(apiVersion) && apiVersion !== API_VERSION) {
    throw new StoreIncompatible(
      `${name} was written by a newer leasectl (${apiVersion}); this one knows ${API_VERSION}`,
      { hint: 'Update leasectl on this machine.' },
    )
  }
  if (apiVersion !== API_VERSION || found !== kind)
    throw damaged(name, `it is not of the kind ${kind} of ${API_VERSION}`)
  return fields
}

/** A number of things or a time, from 0. @throws `BadDocument` */
export function wholeNumber(name: string, field: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw damaged(name, `${field} is not a whole number from 0`)
  return value
}

/** @throws `BadDocument` */
export function plainText(name: string, field: string, value: unknown): string {
  if (typeof value !== 'string') throw damaged(name, `${field} is not a text`)
  return value
}

/** The fault of a system document that says what no leasectl wrote. */
export function damaged(name: string, what: string): BadDocument {
  return new BadDocument(`the document is damaged: ${what}`, undefined, wayOut(name), name)
}

function wayOut(name: string): string {
  const [, folder, of = '', rest = ''] = /^\.leasectl\/(subscriptions|inbox)\/([^/]+)\/(.*)$/s.exec(name) ?? []
  if (folder === 'subscriptions')
    return `Restore it from a copy of the store, or begin anew: subscription rm ${of} removes it with its position.`
  if (rest === 'drain.json') return 'inbox drain --force replaces it.'
  if (rest.startsWith('checkpoints/'))
    return 'Restore it from a copy of the store, or delete it there: all that is left of the partition is drained again, as duplicates.'
  return 'show and rm reach streams only: restore it from a copy of the store, or delete it there.'
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
