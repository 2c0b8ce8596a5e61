package com.android.billingclient.api

import android.app.Activity
import android.content.Context

class Purchase(val purchaseToken: String)
class ProductDetails
class BillingResult(val responseCode: Int)
class PurchasesResult(val purchasesList: List<Purchase>)
fun interface PurchasesUpdatedListener { fun onPurchasesUpdated(result: BillingResult, purchases: List<Purchase>?) }
interface BillingClientStateListener {
    fun onBillingSetupFinished(result: BillingResult)
    fun onBillingServiceDisconnected()
}
class PendingPurchasesParams {
    class Builder { fun enableOneTimeProducts(): Builder = TODO(); fun build(): PendingPurchasesParams = TODO() }
    companion object { fun newBuilder(): Builder = TODO() }
}
class QueryPurchasesParams {
    class Builder { fun setProductType(type: String): Builder = TODO(); fun build(): QueryPurchasesParams = TODO() }
    companion object { fun newBuilder(): Builder = TODO() }
}
class BillingClient {
    object BillingResponseCode { const val OK = 0 }
    object ProductType { const val INAPP = "inapp"; const val SUBS = "subs" }
    class Builder {
        fun setListener(listener: PurchasesUpdatedListener): Builder = TODO()
        fun enablePendingPurchases(params: PendingPurchasesParams): Builder = TODO()
        fun enableAutoServiceReconnection(): Builder = TODO()
        fun build(): BillingClient = TODO()
    }
    fun startConnection(listener: BillingClientStateListener): Unit = TODO()
    fun launchBillingFlow(activity: Activity, params: BillingFlowParams): BillingResult = TODO()
    companion object { fun newBuilder(context: Context): Builder = TODO() }
}
suspend fun BillingClient.queryPurchasesAsync(params: QueryPurchasesParams): PurchasesResult = TODO()
class BillingFlowParams {
    class Builder {
        fun setObfuscatedAccountId(id: String): Builder = TODO()
        fun setProductDetailsParamsList(list: List<ProductDetailsParams>): Builder = TODO()
        fun setSubscriptionUpdateParams(params: SubscriptionUpdateParams): Builder = TODO()
        fun build(): BillingFlowParams = TODO()
    }
    class ProductDetailsParams {
        class Builder { fun setProductDetails(product: ProductDetails): Builder = TODO(); fun setOfferToken(token: String): Builder = TODO(); fun build(): ProductDetailsParams = TODO() }
        companion object { fun newBuilder(): Builder = TODO() }
    }
    class SubscriptionUpdateParams {
        object ReplacementMode { const val WITH_TIME_PRORATION = 1 }
        class Builder { fun setOldPurchaseToken(token: String): Builder = TODO(); fun setSubscriptionReplacementMode(mode: Int): Builder = TODO(); fun build(): SubscriptionUpdateParams = TODO() }
        companion object { fun newBuilder(): Builder = TODO() }
    }
    companion object { fun newBuilder(): Builder = TODO() }
}
