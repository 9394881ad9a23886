import type { SummarizedStream } from '../../ops/summaries.ts'

/** The first ids, and how many more there are; a last `+N` among them counts. Not made safe to print. */
export function idsText(ids: readonly string[], most: number): string {
  const named = ids.filter(id => !id.startsWith('+'))
  const cutOff = ids.reduce((sum, id) => sum + (id.startsWith('+') ? Number(id.slice(1)) || 0 : 0), 0)
  const more = Math.max(0, named.length - most) + cutOff
  return `${named.slice(0, most).join(' ')}${more > 0 ? ` +${more}` : ''}`
}

/** Why the document cannot be read, without the stream's name in front; `undefined` where it can. Not made safe to print. */
export function faultText({ listed, fault }: SummarizedStream): string | undefined {
  if (fault === undefined) return undefined
  const named = `${listed.name}: `
  return fault.message.startsWith(named) ? fault.message.slice(named.length) : fault.message
}
