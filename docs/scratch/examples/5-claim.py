# Where a wrong count comes from
import paramsym as ps

bert = ps.models.Bert().at("bert-base-uncased")
ps.reconcile(bert, 109_786_368)
