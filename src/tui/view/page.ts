import type { Scene } from '../state/context.ts'
import type { TextPage, TextSubject } from '../state/state.ts'
import { textOfLines } from '../state/text/text.ts'
import { outcomeLines } from './dialogs/outcomes.ts'
import { rowPage } from './list-detail.ts'
import { safeText } from './safe-text.ts'
import { eventPage } from './stream/detail.ts'

/** The text about something, for the whole screen; `undefined` if it is no longer there. */
export function pageFor(scene: Scene, subject: TextSubject): Pick<TextPage, 'title' | 'text'> | undefined {
  switch (subject.kind) {
    case 'event':
      return scene.state.stream === subject.stream ? eventPage(scene, subject.key) : undefined
    case 'row':
      return rowPage(scene, subject.screen, subject.key)
    case 'outcomes': {
      const { batch } = scene.state
      return batch && { title: `outcomes of ${batch.preview.verb}`, text: textOfLines(outcomeLines(batch)) }
    }
    case 'output':
      return outputPage(scene)
    default:
      return subject satisfies never
  }
}

function outputPage({ state: { dialog } }: Scene): Pick<TextPage, 'title' | 'text'> | undefined {
  if (dialog?.kind !== 'output' || dialog.output === undefined) return undefined
  return { title: `:${safeText(dialog.line)}`, text: { lines: dialog.output.lines } }
}
