import type { Category } from '../../../shared/contract/moderation.ts';
import { classNames } from '../../components/class-names.ts';
import { categoryNames } from './category-names.ts';
import './categories.css';

/** The two letters of a category on its tint. */
export function CategorySwatch({ category }: { category: Category }) {
  const { code, className } = categoryNames[category];
  return <i className={classNames('swatch', `swatch--${className}`)}>{code}</i>;
}
