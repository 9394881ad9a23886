import type { ChangeDialog } from './state.ts'

export type Focus = ChangeDialog['focus']

/** What of the dialog can have the keys now, in the order of `tab`. `yes` only where something would be done. */
export function fociOf({ preview, fault, verb }: ChangeDialog): readonly Focus[] {
  if (fault !== undefined) return ['no']
  if (preview === undefined) return verb === 'break' ? ['no'] : ['reason', 'no']
  if (preview.count <= 0) return ['no']
  return [
    ...(preview.takesReason ? (['reason'] as const) : []),
    ...(preview.confirm.kind === 'type' ? (['typed'] as const) : []),
    'no',
    'yes',
  ]
}

export function focusMoved(dialog: ChangeDialog, by: 1 | -1): ChangeDialog {
  const foci = fociOf(dialog)
  const at = foci.indexOf(dialog.focus)
  return { ...dialog, focus: foci[(at + by + foci.length) % foci.length] ?? 'no' }
}

/** From a field on to the next one, at last to `no`: never to `yes`. */
export function focusOn(dialog: ChangeDialog): ChangeDialog {
  const isTypedNext = dialog.focus === 'reason' && fociOf(dialog).includes('typed')
  return { ...dialog, focus: isTypedNext ? 'typed' : 'no' }
}

/** The field that is typed into; `undefined` on `no` and `yes`. */
export function fieldOf({ focus }: Pick<ChangeDialog, 'focus'>): 'reason' | 'typed' | undefined {
  return focus === 'reason' || focus === 'typed' ? focus : undefined
}

export function hasField(dialog: Pick<ChangeDialog, 'focus'>): boolean {
  return fieldOf(dialog) !== undefined
}
