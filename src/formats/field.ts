import { visibleName, visibleText } from '../util/visible-text.ts'
import { dueText, span, type TimeStyle, timeText } from './terminal/numbers.ts'
import type { Cell, Column } from './terminal/table.ts'

/** How a medium writes values: text output and the dashboard show the same fields, each in its own format. */
export interface CellFormat {
  readonly nowMs: number
  readonly time: TimeStyle
  /** Makes an untrusted text safe to print. */
  readonly text: (text: string) => string
  /** Makes the name of a stream safe to print. */
  readonly name: (name: string) => string
  /** A duration. */
  readonly span: (ms: number) => string
  /** An age or a time; `-` for an unknown one. */
  readonly age: (ms: number | undefined) => string
  /** The same with the past stated: `2m14s ago`. */
  readonly past: (ms: number | undefined) => string
  /** A due time. One that has passed is marked. */
  readonly due: (ms: number) => Cell
}

/** A value of an item, shown as a column of a table or of a list on the screen. */
export interface Field<Item> {
  readonly title: string
  readonly align?: 'right'
  /** For names: those with the same beginning differ at their end. */
  readonly cut?: 'middle'
  /** The value, safe to print. */
  cell(item: Item, format: CellFormat): Cell
}

/** A field with its layout in a text table. */
export type TableColumn<Item> = Column & Field<Item>

/** One row of a table. */
export function rowOf<Item>(columns: readonly Field<Item>[], item: Item, format: CellFormat): Cell[] {
  return columns.map(column => column.cell(item, format))
}

/** The format of text output. */
export function textFormat(nowMs: number, time: TimeStyle): CellFormat {
  const age = (ms: number | undefined) => timeText(ms, nowMs, time)
  return {
    nowMs,
    time,
    text: visibleText,
    name: visibleName,
    span,
    age,
    past: ms => (ms !== undefined && time === 'relative' ? `${span(nowMs - ms)} ago` : age(ms)),
    due(ms) {
      const due = dueText(ms, nowMs, time)
      if (ms > nowMs) return due
      return { text: time === 'relative' ? due : `overdue ${due}`, style: 'bad' }
    },
  }
}
