import { span } from '../../formats/terminal/numbers.ts'
import type { FollowItem } from '../../ops/follow/follow.ts'
import type { FollowManyItem } from '../../ops/follow/many-types.ts'
import type { Break } from '../../ops/follow/position.ts'
import { visibleName, visibleText } from '../../stream/text.ts'

/** What is said of one stream beside its transactions. @param outageMs how long the store did not answer, if it did not */
export function sentenceOfOne(
  item: Exclude<FollowItem, { kind: 'transaction' }>,
  stream: string,
  outageMs: number,
): string {
  const name = visibleName(stream)
  switch (item.kind) {
    case 'interrupted':
      return lostText(item.cause)
    case 'resumed':
      return `${backText(outageMs)}; ${item.broken === undefined ? 'nothing was missed' : breakText(name, item.broken)}`
    case 'done':
      return `${name} is done; a retry may reopen it (Ctrl-C ends)`
    case 'gone':
      return `${name} was removed; waiting for it to come back (Ctrl-C ends)`
    default:
      return item satisfies never
  }
}

type Spoken = Extract<FollowManyItem, { kind: 'interrupted' | 'resumed' | 'broken' | 'gone' }>

/** What is said of many streams beside their transactions. */
export function sentencesOfMany(item: Spoken, outageMs: number): readonly string[] {
  switch (item.kind) {
    case 'interrupted':
      return [lostText(item.cause)]
    case 'resumed':
      return [`${backText(outageMs)}; ${missedText(item)}`]
    case 'broken':
      return [breakText(visibleName(item.stream), item.why)]
    case 'gone':
      return goneTexts(item.names)
    default:
      return item satisfies never
  }
}

function lostText(cause: unknown): string {
  return `connection lost: ${visibleText(cause instanceof Error ? cause.message : String(cause))}; trying again`
}

function backText(outageMs: number): string {
  return outageMs < 1_000 ? 'connected again' : `connected again after ${span(outageMs)}`
}

function missedText({ broken, gone }: Extract<Spoken, { kind: 'resumed' }>): string {
  const gones = `${counted(gone, 'stream')} had gone by then`
  if (broken === 0) return `nothing was missed${gone === 0 ? '' : `, but ${gones}`}`
  const missed = `something may have been missed of ${counted(broken, 'stream')}, named above`
  return gone === 0 ? missed : `${missed}, and ${gones}`
}

function breakText(name: string, why: Break): string {
  return why === 'other-life'
    ? `${name} was created anew meanwhile; the end of its former life may have been missed`
    : `${name} was put back to an older copy, or its history was cut; something may have been missed`
}

const MOST_NAMED = 10

function goneTexts(names: readonly string[]): string[] {
  const told = names.slice(0, MOST_NAMED).map(name => `${visibleName(name)} was removed`)
  const more = names.length - told.length
  return more > 0 ? [...told, `${more} more were removed`] : told
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
