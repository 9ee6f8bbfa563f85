/** Things with an id in the order that a person gave them; those that have no place yet follow as they came. */
export function orderViews<View extends { id: string }>(views: readonly View[], order: readonly string[]): View[] {
  const place = (id: string): number => {
    const index = order.indexOf(id);
    return index < 0 ? order.length : index;
  };
  return views.toSorted((one, other) => place(one.id) - place(other.id));
}

/** The order after one of them was moved up or down. */
export function moveView(views: readonly { id: string }[], id: string, by: number): string[] {
  const ids = views.map((view) => view.id);
  const from = ids.indexOf(id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= ids.length) return ids;
  const moved = ids.toSpliced(from, 1);
  return moved.toSpliced(to, 0, id);
}
